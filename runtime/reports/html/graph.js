// The ONNX graph, the steps, and the lines between them.

/** Which steps compute a node: {step, gradient}. */
function stepsOf(plan, index) {
  const node = plan.nodes[index];
  const own = new Set(node.steps);
  const links = node.steps.map((step) => ({ step, gradient: plan.loss ? isGradient(plan.steps[step - 1]) : false }));
  for (const [i, step] of plan.steps.entries())
    if (!own.has(i + 1) && node.node && step.nodes.includes(node.node)) links.push({ step: i + 1, gradient: true });
  return links;
}

/** Whether a step comes after the loss: none that infers does. */
const isGradient = (step) => /\.grad(\.|$)/.test(step.name);

/** Nodes with their places, from Dagre; of the width given. */
function layOut(plan, width, height) {
  const shown = plan.nodes.map((node, index) => ({ node, index })).filter(({ node }) => node.operator);
  const nodes = shown.map(({ index }) => ({ v: `n${index}`, kind: 'node', id: index, width, height }));
  const sources = new Map();
  for (const { node, index } of shown) for (const output of node.outputs) if (output) sources.set(output, `n${index}`);
  for (const [i, input] of plan.inputs.entries()) {
    if (input.name.startsWith('mn.')) continue;
    nodes.push({ v: `i${i}`, kind: 'input', id: i, width, height: height - 8 });
    sources.set(input.name, `i${i}`);
  }
  const edges = [], seen = new Set();
  for (const { node, index } of shown)
    for (const input of node.inputs) {
      const from = sources.get(input), key = `${from}>${index}`;
      if (!from || from === `n${index}` || seen.has(key)) continue;
      seen.add(key);
      edges.push({ v: from, w: `n${index}` });
    }
  if (nodes.length) dagre.layout(nodes, edges, { nodesep: 14, ranksep: 26, edgesep: 8, rankdir: 'TB', ranker: nodes.length > 1500 ? 'longest-path' : undefined }, {});
  return { nodes, edges };
}

/** The widest of some widths at which the graph is within `limit`, or the last. */
function layOutWithin(plan, some, height, limit) {
  for (const width of some) {
    const made = layOut(plan, width, height);
    made.right = d3.max(made.nodes, (node) => node.x + node.width / 2) || 0;
    if (made.right <= limit || width === some[some.length - 1]) return made;
  }
  return null;
}

/** Places of steps beside the nodes that they compute, in their order, as far as `height` allows. */
function placeSteps(plan, centers, pitch, height) {
  const wanted = plan.steps.map((step, i) => {
    const near = centers.filter((center) => center.links.some((link) => link.step === i + 1 && !link.gradient));
    return near.length ? d3.mean(near, (center) => center.y) : -1;
  });
  let y = 0;
  return wanted.map((at, i) => {
    const place = Math.max(y, Math.min(at - pitch / 2, height - (wanted.length - i) * pitch));
    y = place + pitch;
    return place + pitch / 2;
  });
}

const widths = {
  bytes: { title: 'bytes', of: (plan, i) => plan.steps[i].bytes, text: bytesText },
  time: { title: 'time', of: (plan, i) => timesOf(plan).times[i].length, text: timeText },
};

function drawBox(group, box, width, height, lines, padding) {
  group.append('rect').attr('class', 'frame').attr('x', -width / 2).attr('y', -height / 2).attr('width', width).attr('height', height).attr('rx', 7);
  lines.forEach((line, i) => {
    const text = group.append('text').attr('class', i ? 'second' : 'first').attr('x', -width / 2 + padding)
      .attr('y', lines.length === 1 ? 4 : -height / 2 + 16 + i * 15).text(line);
    fit(text, width - padding - 8);
  });
}

function nodeLines(plan, index) {
  const node = plan.nodes[index];
  return [node.operator, node.became === 'step' || !node.why ? nodeName(node) : `${nodeName(node)}: ${node.became}`];
}

/** Boxes that arrow keys walk through; one of a column is a stop of Tab. */
function walkable(boxes, column) {
  boxes.attr('tabindex', (_, i) => (i === 0 ? 0 : -1)).attr('role', 'button').on('focus', function () {
    boxes.attr('tabindex', -1);
    this.setAttribute('tabindex', 0);
  }).on('keydown', function (datum, i) {
    const all = boxes.nodes();
    const { key } = d3.event;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step) (all[i + step] || this).focus();
    else if (key === 'Home') all[0].focus();
    else if (key === 'End') all[all.length - 1].focus();
    else if (key === 'ArrowLeft' || key === 'ArrowRight') jump(datum, column, key);
    else if (key === 'Enter' || key === ' ') choose(datum.kind, datum.id);
    else return;
    d3.event.preventDefault();
  });
}

/** From a node to its step, and back. */
function jump(datum, column, key) {
  if ((column === 'node') !== (key === 'ArrowRight')) return;
  const link = graphLinks.find((one) => one[column] === datum.id);
  if (!link) return;
  const kind = column === 'node' ? 'step' : 'node';
  const target = document.querySelector(`#graph .${kind}[data-id="${link[kind]}"]`);
  if (target) target.focus();
}

let graphLinks = [];

function drawGraph(plan, measure) {
  const place = byId('graph');
  place.replaceChildren();
  const total = Math.max(320, place.parentNode.clientWidth);
  const narrow = total < 560;
  const nodeHeight = 40, stepHeight = 46, pitch = stepHeight + 10;
  const gap = narrow ? 54 : 120, leastStep = narrow ? 164 : 220;
  // Narrower nodes where branches stand side by side.
  const { nodes, edges, right } = layOutWithin(plan, narrow ? [104, 84] : [168, 140, 116, 96], nodeHeight, total - gap - leastStep - 4);
  const stepWidth = Math.max(leastStep, Math.min(420, total - right - gap - 4));
  const width = Math.max(total, right + gap + stepWidth + 4);
  const stepX = width - stepWidth / 2 - 2;

  const indexed = nodes.filter((node) => node.kind === 'node').map((node) => Object.assign(node, { links: stepsOf(plan, node.id) }));
  const bottom = d3.max(nodes, (node) => node.y + node.height / 2) || 0;
  const inner = Math.max(bottom, plan.steps.length * pitch), height = inner + 8;
  const stepY = placeSteps(plan, indexed, pitch, inner);

  const svg = d3.select(place).append('svg').attr('width', width).attr('height', height).attr('viewBox', `0 0 ${width} ${height}`)
    .attr('role', 'group').attr('aria-label', `${indexed.length} nodes and ${plan.steps.length} steps`);
  svg.append('defs').append('marker').attr('id', 'arrow').attr('viewBox', '0 0 8 8').attr('refX', 7).attr('refY', 4)
    .attr('markerWidth', 6).attr('markerHeight', 6).attr('orient', 'auto').append('path').attr('class', 'arrow').attr('d', 'M0 0L8 4L0 8Z');
  const curve = d3.line().x((point) => point.x).y((point) => point.y).curve(d3.curveBasis);
  svg.append('g').selectAll('path').data(edges).enter().append('path').attr('class', 'edge').attr('d', (edge) => curve(edge.points)).attr('marker-end', 'url(#arrow)');

  const size = widths[measure];
  const thickness = d3.scaleSqrt().domain([0, d3.max(plan.steps, (_, i) => size.of(plan, i)) || 1]).range([1.2, narrow ? 9 : 16]);
  graphLinks = indexed.flatMap((node) => node.links.map((link) => ({ node: node.id, step: link.step, gradient: link.gradient, from: node })));
  const bow = d3.linkHorizontal().x((point) => point[0]).y((point) => point[1]);
  svg.append('g').selectAll('path').data(graphLinks).enter().append('path')
    .attr('class', (link) => `link c-${wayOf(plan.steps[link.step - 1])}${link.gradient ? ' gradient' : ''}`)
    .attr('data-node', (link) => link.node).attr('data-step', (link) => link.step)
    .attr('stroke-width', (link) => (link.gradient ? null : thickness(size.of(plan, link.step - 1))))
    .attr('d', (link) => bow({ source: [link.from.x + link.from.width / 2, link.from.y], target: [stepX - stepWidth / 2, stepY[link.step - 1]] }));

  const given = svg.append('g').selectAll('g').data(nodes.filter((node) => node.kind === 'input')).enter().append('g')
    .attr('class', 'box given').attr('transform', (node) => `translate(${node.x},${node.y})`);
  given.each(function (node) { drawBox(d3.select(this), node, node.width, node.height, [plan.inputs[node.id].name], 12); });
  withTip(given, (node) => `input, ${shapeText(plan.inputs[node.id].type)}`);

  indexed.sort((a, b) => a.y - b.y || a.x - b.x);
  const boxes = svg.append('g').selectAll('g').data(indexed).enter().append('g')
    .attr('class', (node) => `box node${node.links.length ? '' : ' gone'}`).attr('data-id', (node) => node.id)
    .attr('aria-label', (node) => `node ${nodeLines(plan, node.id).join(' ')}`)
    .attr('transform', (node) => `translate(${node.x},${node.y})`);
  boxes.each(function (node) { drawBox(d3.select(this), node, node.width, node.height, nodeLines(plan, node.id), 10); });
  withTip(boxes, (node) => { const { why, became } = plan.nodes[node.id]; return `${nodeLines(plan, node.id)[0]} ${nodeName(plan.nodes[node.id])}\n${why ? `${became}: ${why}` : node.links.filter((link) => !link.gradient).map((link) => `step ${link.step}: ${plan.steps[link.step - 1].runs_as}`).join('\n')}`; });

  const most = d3.max(plan.steps, (_, i) => size.of(plan, i)) || 1;
  const data = plan.steps.map((step, i) => ({ kind: 'step', id: i + 1, step, y: stepY[i] }));
  const steps = svg.append('g').selectAll('g').data(data).enter().append('g')
    .attr('class', ({ step }) => `box step c-${wayOf(step)}`).attr('data-id', ({ id }) => id)
    .attr('aria-label', ({ id, step }) => `step ${id} ${step.name}, ${step.runs_as}`)
    .attr('transform', ({ y }) => `translate(${stepX},${y})`);
  steps.each(function ({ id, step }) {
    const group = d3.select(this);
    drawBox(group, step, stepWidth, stepHeight, [`${id}  ${step.name}`, step.runs_as], 15);
    group.append('rect').attr('class', 'side').attr('x', -stepWidth / 2 + 5).attr('y', -stepHeight / 2 + 7).attr('width', 3.5).attr('height', stepHeight - 14).attr('rx', 1.5);
    group.append('rect').attr('class', 'share').attr('x', -stepWidth / 2 + 15).attr('y', stepHeight / 2 - 8).attr('height', 3.5).attr('rx', 1.5)
      .attr('width', Math.max(1, (stepWidth - 30) * size.of(plan, id - 1) / most));
  });
  withTip(steps, ({ id, step }) => `${id}. ${step.name}: ${step.runs_as}\n${size.title} ${size.text(size.of(plan, id - 1))}\n${step.why}`);

  for (const [all, column] of [[boxes, 'node'], [steps, 'step']]) {
    walkable(all, column);
    all.on('click', (datum) => choose(datum.kind, datum.id))
      .on('mouseenter', (datum) => light(datum)).on('mouseleave', () => light(state.chosen));
  }
}

/** Shows the lines of what is looked at. */
function light(datum) {
  const svg = d3.select('#graph svg');
  svg.classed('busy', Boolean(datum));
  svg.selectAll('.link').classed('lit', (link) => Boolean(datum) && link[datum.kind] === datum.id);
  d3.selectAll('#lanes .mark, #roof .mark').classed('lit', (mark) => Boolean(datum) && datum.kind === 'step' && mark.id === datum.id);
}
