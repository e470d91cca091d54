// What all parts share: the data, elements made of text alone, numbers in words.
const report = JSON.parse(document.getElementById('data').textContent);
const model = report.compiled;

const byId = (id) => document.getElementById(id);

/** An element; strings among the children are text, whatever they hold. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const trim = (number, digits) => d3.format(`,.${digits}~r`)(number);

/** 2408448 is '2.41 MB'. */
function scaled(number, units, base = 1000) {
  let unit = 0;
  while (Math.abs(number) >= base * 0.9995 && unit + 1 < units.length) number /= base, ++unit;
  return `${number === 0 ? 0 : trim(number, 3)} ${units[unit]}`;
}
const bytesText = (bytes) => scaled(bytes, ['bytes', 'kB', 'MB', 'GB', 'TB']);
const flopsText = (flops) => scaled(flops, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP']);
const rateText = (perMicrosecond) => scaled(perMicrosecond * 1e6, ['FLOP/s', 'kFLOP/s', 'MFLOP/s', 'GFLOP/s', 'TFLOP/s', 'PFLOP/s']);
const timeText = (us) => (us >= 999.5 ? scaled(us / 1000, ['ms', 's']) : `${us === 0 ? 0 : trim(us, 3)} µs`);
const percentText = (part) => `${trim(100 * part, part < 0.1 ? 2 : 3)} %`;
const countText = (count, noun, plural = `${noun}s`) => `${d3.format(',')(count)} ${count === 1 ? noun : plural}`;

const ways = {
  kernel: 'own kernel', cores: 'own kernel, tensor cores', cudnn: 'cuDNN', cublas: 'cuBLASLt', onednn: 'oneDNN',
  openblas: 'OpenBLAS', comm: 'NCCL or MPI', none: 'other',
};
function wayOf(step) {
  if (step.implementation === 'kernel') return step.mma ? 'cores' : 'kernel';
  if (step.implementation === 'nccl' || step.implementation === 'mpi') return 'comm';
  return step.implementation in ways ? step.implementation : 'none';
}

/** 64 × 128, and the type where it is not the usual one. */
function shapeText(type) {
  const parts = type.split('x');
  const last = parts.pop();
  const shape = parts.length ? parts.join(' × ') : 'a number';
  return last === 'f32' ? shape : `${shape} of ${last}`;
}

/** Times of a plan: measured where it was profiled, else the model's. */
function timesOf(plan) {
  const profile = report.profile;
  const measured = profile && profile.plan === plan.name && profile.steps.length === plan.steps.length;
  const times = plan.steps.map((step, i) => measured
    ? { start: profile.steps[i].start_us, length: profile.steps[i].us }
    : { start: step.estimated_start_us, length: step.estimated_us });
  const end = d3.max(times, (time) => time.start + time.length) || 0;
  return { measured, times, end, total: d3.sum(times, (time) => time.length) };
}

const threadsOf = () => (report.profile && report.profile.threads) || 1;
/** The part of what the machine can do at best that a step reaches. */
function roofShare(plan, number) {
  const step = plan.steps[number - 1];
  const { measured, times } = timesOf(plan);
  const time = times[number - 1].length;
  return time > 0 ? step.roof_us / (measured ? threadsOf() : 1) / time : 0;
}

/** A text in a plot, cut where it is wider than `width`. */
function fit(text, width) {
  const node = text.node();
  let letters = Array.from(text.text());
  while (letters.length > 1 && node.getComputedTextLength() > width) {
    letters = letters.slice(0, Math.max(1, Math.min(letters.length - 1,
      Math.floor(letters.length * width / node.getComputedTextLength()))));
    text.text(`${letters.join('').trimEnd()}…`);
  }
}

const tip = byId('tip');
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
}
const hideTip = () => { tip.hidden = true; };
/** Text at the pointer for marks of a plot. */
function withTip(marks, text) {
  return marks.on('mousemove.tip', function (datum) { showTip(d3.event, text(datum)); }).on('mouseleave.tip', hideTip);
}
