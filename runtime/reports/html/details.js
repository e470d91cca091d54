// What is chosen, in words: reasons, sizes, what frameworks would call, the text.
const details = byId('details');

function definition(pairs) {
  const list = element('dl');
  for (const [name, value] of pairs)
    if (value !== undefined && value !== null && value !== '')
      list.append(element('dt', {}, name), element('dd', {}, value));
  return list;
}

/** A reason of several parts, as --explain says it. */
function reasons(text) {
  return element('ul', {}, ...text.split('; ').map((part) => element('li', {}, part)));
}

function stepChip(plan, number) {
  const step = plan.steps[number - 1];
  return element('button', { class: 'chip', type: 'button', onclick: () => choose('step', number) },
    element('i', { class: `c-${wayOf(step)}` }), `${number} ${step.name}`);
}
function nodeChip(plan, index) {
  const node = plan.nodes[index];
  return element('button', { class: 'chip', type: 'button', onclick: () => choose('node', index) }, `${node.operator} ${nodeName(node)}`);
}
const nodeName = (node) => node.node || node.outputs[0] || '';

/** What each framework runs instead, and the library's function that this calls. */
function callsTable(rows) {
  if (rows.length === 0) return null;
  const line = (name, call, library) => [element('dt', {}, name), element('dd', {}, element('code', {}, call),
    ...(library ? [' calls ', element('code', {}, library)] : []))];
  return element('div', { class: 'calls' }, ...rows.map((row) => element('dl', {},
    ...line('PyTorch', row.pytorch, row.library), ...line('TensorFlow', row.tensorflow, row.library), ...line('MXNet', row.mxnet, row.library))));
}

function textBlock(title, text, open) {
  return element('details', open ? { open: '' } : {}, element('summary', {}, title), element('pre', { tabindex: 0 }, element('code', {}, text)));
}

/** A kernel that several steps call was written for one of them. */
function deviceText(step) {
  if (step.text.device) return step.text.device;
  const plan = model.plans.find((other) => other.name === step.text.kernel_of_plan);
  const other = plan && plan.steps.find((candidate) => candidate.name === step.text.kernel_of);
  return other && other.text.device ? `// Shared: written for '${other.name}' of ${plan.name}.\n${other.text.device}` : '';
}

function stepDetails(plan, number) {
  const step = plan.steps[number - 1];
  const { measured, times } = timesOf(plan);
  const time = times[number - 1].length;
  const nodes = plan.nodes.map((node, index) => index)
    .filter((index) => plan.nodes[index].operator && stepsOf(plan, index).some((link) => link.step === number));
  const rows = step.replaces.map((row) => model.frameworks[row]);
  const parts = [
    element('p', { class: 'what' }, `${number}. ${step.name}`),
    element('p', { class: 'kind' }, step.runs_as),
    definition([
      ['runs on', `${ways[wayOf(step)]}${step.mma ? ` (${step.mma})` : ''}`],
      ['computed as', step.schedule],
      ['result', step.results.map((result) => shapeText(result.type)).join(', ')],
      ['layout', step.layout],
      [measured ? 'time' : 'time, estimated', timeText(time)],
      ['work', `${flopsText(step.flops)}, ${bytesText(step.bytes)}`],
      ['of the roofline', percentText(roofShare(plan, number))],
      ['arena', step.results.map((result) => `${bytesText(result.bytes)} at ${d3.format(',')(result.offset)}`).join('; ')],
      ['stream', plan.streams > 1 ? String((step.stream || 0) + 1) : ''],
      ['waits for', (step.after || []).map((after) => `step ${after}`).join(', ')],
      ['ops', step.ops],
    ]),
    element('h3', {}, 'Why'), reasons(step.why),
  ];
  if (nodes.length) parts.push(element('h3', {}, 'Computes'), element('div', {}, ...nodes.map((index) => nodeChip(plan, index))));
  const calls = callsTable(rows);
  if (calls) parts.push(element('h3', {}, 'A framework would call, on a GPU'), calls);
  if (step.text) {
    const device = deviceText(step);
    if (device) parts.push(textBlock(model.target === 'cuda' ? 'Kernel, CUDA' : 'Kernel, C++', device, true));
    parts.push(textBlock('Call, C++', step.text.host, !device));
  }
  return parts;
}

function nodeDetails(plan, index) {
  const node = plan.nodes[index];
  const links = stepsOf(plan, index);
  const trains = Boolean(plan.loss);
  const rows = model.frameworks.filter((row) => row.operator === node.operator && (trains || !row.backward));
  const own = links.filter((link) => !link.gradient), gradient = links.filter((link) => link.gradient);
  const why = node.why || (own.length > 1 ? `computed in ${own.length} steps` : 'computed by a step');
  const chips = (list) => element('div', {}, ...list.map((link) => stepChip(plan, link.step)));
  const parts = [
    element('p', { class: 'what' }, nodeName(node)),
    element('p', { class: 'kind' }, `ONNX ${node.operator}`),
    definition([['became', node.became], ['why', why], ['inputs', node.inputs.filter(Boolean).join(', ')], ['outputs', node.outputs.filter(Boolean).join(', ')]]),
  ];
  if (own.length) parts.push(element('h3', {}, 'Computed by'), chips(own));
  if (gradient.length) parts.push(element('h3', {}, 'Its gradient'), chips(gradient));
  for (const link of own.slice(0, 1))
    parts.push(element('h3', {}, `Why step ${link.step} runs on ${ways[wayOf(plan.steps[link.step - 1])]}`), reasons(plan.steps[link.step - 1].why));
  const calls = callsTable(rows);
  if (calls) parts.push(element('h3', {}, 'A framework would call, on a GPU'), calls);
  for (const link of own.slice(0, 1)) {
    const step = plan.steps[link.step - 1];
    const text = step.text && (deviceText(step) || step.text.host);
    if (text) parts.push(textBlock(`Text of step ${link.step}`, text, false));
  }
  return parts;
}

/** The steps that take most of the time. */
function costliest(plan) {
  const { measured, times, total } = timesOf(plan);
  const steps = plan.steps.map((_, i) => i + 1).sort((a, b) => times[b - 1].length - times[a - 1].length).slice(0, 5);
  if (total === 0) return [];
  const part = d3.sum(steps, (number) => times[number - 1].length) / total;
  return [element('h3', {}, `${percentText(part)} of the time${measured ? '' : ', as estimated,'} goes to`),
    element('ol', { class: 'costs' }, ...steps.map((number) => element('li', {}, stepChip(plan, number),
      element('span', {}, percentText(times[number - 1].length / total)))))];
}

function showDetails(plan, chosen) {
  details.classList.toggle('open', Boolean(chosen));
  details.scrollTop = 0;
  if (!chosen) {
    details.replaceChildren(element('p', { class: 'what' }, 'Nothing is chosen'),
      element('p', { class: 'kind' }, 'Choose a node or a step: by a click, or with Tab, the arrow keys and Enter.'), ...costliest(plan));
    return;
  }
  details.replaceChildren(
    element('button', { class: 'close', type: 'button', onclick: () => choose(null) }, 'Close'),
    ...(chosen.kind === 'step' ? stepDetails(plan, chosen.id) : nodeDetails(plan, chosen.id)));
}
