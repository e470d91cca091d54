// The page: what is chosen, and what is drawn anew when.

const state = { plan: 0, measure: 'bytes', chosen: null };
const planNow = () => model.plans[state.plan];

/** Chooses a node or step of the plan, or nothing. */
function choose(kind, id) {
  state.chosen = kind ? { kind, id } : null;
  d3.selectAll('#graph .box').classed('chosen', (datum) => Boolean(kind) && datum.kind === kind && datum.id === id);
  light(state.chosen);
  showDetails(planNow(), state.chosen);
  hideTip();
}

/** Buttons of which one is on; arrow keys move. */
function buttons(place, entries, role, attribute, onchange) {
  const made = entries.map(({ key, label, note }) => element('button', { type: 'button', role, onclick: () => select(key) }, label, note ? element('small', {}, note) : null));
  function select(key, focus) {
    const at = entries.findIndex((entry) => entry.key === key);
    made.forEach((button, i) => { button.setAttribute(attribute, i === at); button.tabIndex = i === at ? 0 : -1; });
    if (focus) made[at].focus();
    onchange(key);
  }
  made.forEach((button, i) => button.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    select(entries[(i + step + entries.length) % entries.length].key, true);
  }));
  byId(place).append(...made);
  return select;
}

function drawHead() {
  document.title = `${model.model}: report`;
  byId('title').textContent = model.model;
  byId('command').textContent = `${model.compiler} ${model.command}`;
  const profile = report.profile, training = report.training;
  byId('lede').textContent = `Compiled for ${model.target === 'cuda' ? 'an NVIDIA GPU' : 'the CPU'} (${model.archs.join(', ')})${training ? ', and trained' : ''}${profile ? `; measured on ${profile.device}` : ''}.`;
}

function drawFacts(plan) {
  const { measured, end } = timesOf(plan);
  const nodes = plan.nodes.filter((node) => node.operator);
  const facts = [
    ['ONNX nodes', d3.format(',')(nodes.length)],
    ['steps that run', d3.format(',')(plan.steps.length), plan.streams > 1 ? `on ${plan.streams} streams` : ''],
    ['work', ...flopsText(plan.flops).split(' ')],
    ['moved at least', ...bytesText(plan.bytes).split(' ')],
    ['arena', ...bytesText(plan.arena_bytes).split(' ')],
    ['constants', ...bytesText(model.constant_bytes || 0).split(' ')],
    measured ? ['time, measured', ...timeText(report.profile.plan_us).split(' ')] : ['time, estimated', ...timeText(end).split(' ')],
  ].filter((fact) => !(fact[0] === 'constants' && !model.constant_bytes));
  byId('facts').replaceChildren(...facts.map(([name, value, unit]) => element('div', {}, element('dt', {}, name),
    element('dd', {}, value, ' ', unit ? element('small', {}, unit) : null))));
}

function drawLegend(plan) {
  const used = new Set(plan.steps.map(wayOf));
  byId('legend').replaceChildren(...Object.keys(ways).filter((way) => used.has(way))
    .map((way) => element('li', {}, element('i', { class: `c-${way}` }), ways[way])));
}

function drawTensors() {
  const { tensors } = model;
  byId('tensors-section').hidden = !tensors;
  if (!tensors) return;
  table('tensors', [
    { title: 'tensor', of: (tensor) => tensor.name },
    { title: 'type', tight: true, of: (tensor) => shapeText(tensor.type) },
    { title: 'in training', of: (tensor) => (tensor.role === 'parameter' ? 'trained' : tensor.role) },
    { title: 'why', of: (tensor) => tensor.why },
  ], tensors);
}

function drawPlan() {
  const plan = planNow();
  drawFacts(plan);
  drawLegend(plan);
  drawGraph(plan, state.measure);
  drawLanes(plan);
  drawArena(plan);
  drawRoof(plan);
  drawSteps(plan);
  const { chosen } = state;
  choose(chosen && chosen.kind, chosen && chosen.id);
}

/** "train_64" in words. */
function planLabel(plan) {
  const [kind, batch] = plan.name.split('_');
  const words = { infer: 'inference', eval: 'evaluation', train: 'training step' };
  return { label: words[kind] || plan.name, note: batch ? ` batch ${batch}` : '' };
}

function start() {
  drawHead();
  drawTensors();
  if (report.training) drawTraining(report.training);
  const kind = model.plans.some((plan) => plan.loss) ? 'train' : 'infer';
  const wanted = report.profile ? report.profile.plan : null;
  const first = Math.max(0, model.plans.findIndex((plan) => (wanted ? plan.name === wanted : plan.name.startsWith(kind))));
  const selectPlan = buttons('plans', model.plans.map((plan, key) => ({ key, ...planLabel(plan) })), 'tab', 'aria-selected', (key) => {
    state.plan = key;
    state.chosen = null;
    if (ready) drawPlan();
  });
  byId('width').append(element('span', {}, 'width is'));
  const selectWidth = buttons('width', Object.entries(widths).map(([key, { title }]) => ({ key, label: title })), 'radio', 'aria-checked', (key) => {
    state.measure = key;
    if (ready) drawPlan();
  });
  selectPlan(first);
  selectWidth('bytes');
  ready = true;
  drawPlan();
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') choose(null); });
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawPlan();
    if (report.training) drawTraining(report.training);
  });
}
let ready = false;
start();
