// Plots with axes: streams over time, the arena, the roofline.

function frame(place, height, margin) {
  const host = typeof place === 'string' ? byId(place) : place;
  host.replaceChildren();
  const width = Math.max(280, host.clientWidth);
  const svg = d3.select(host).append('svg').attr('width', width).attr('height', height).attr('viewBox', `0 0 ${width} ${height}`).attr('role', 'group');
  return { svg, width, height, inner: { left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom } };
}

function axis(svg, make, place, label, at) {
  svg.append('g').attr('class', 'axis').attr('transform', place).call(make);
  if (label) svg.append('text').attr('class', 'soft').attr('x', at.x).attr('y', at.y).attr('text-anchor', at.anchor || 'start').text(label);
}
function grid(svg, make, place) { svg.append('g').attr('class', 'grid').attr('transform', place).call(make.tickFormat('')); }

/** Marks that choose a step; of Tab only the first stops. */
function stepMarks(marks, plan) {
  marks.attr('tabindex', (_, i) => (i === 0 ? 0 : -1)).attr('role', 'button')
    .attr('aria-label', (datum) => stepTip(plan, datum.id))
    .on('click', (datum) => choose('step', datum.id))
    .on('mouseenter', (datum) => light({ kind: 'step', id: datum.id })).on('mouseleave', () => light(state.chosen))
    .on('keydown', function (datum, i) {
      const all = marks.nodes(), { key } = d3.event;
      const to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[key];
      if (to !== undefined) {
        if (!all[to]) return;
        this.setAttribute('tabindex', -1);
        all[to].setAttribute('tabindex', 0);
        all[to].focus();
      } else if (key === 'Enter' || key === ' ') choose('step', datum.id);
      else return;
      d3.event.preventDefault();
    });
  withTip(marks, (datum) => stepTip(plan, datum.id));
}
function stepTip(plan, number) {
  const step = plan.steps[number - 1], { measured, times } = timesOf(plan);
  return `${number}. ${step.name}\n${step.runs_as}\n${timeText(times[number - 1].length)}${measured ? '' : ' (estimated)'}, ${percentText(roofShare(plan, number))} of the roofline\n${flopsText(step.flops)}, ${bytesText(step.bytes)}`;
}

function timeSource(plan) {
  const { measured, end, total } = timesOf(plan);
  if (measured)
    return `Measured on ${report.profile.device}: each step is the median of ${countText(report.profile.runs, 'run')}, where it began that of the last. The steps take ${timeText(report.profile.steps_us)} one by one, the plan as it runs ${timeText(report.profile.plan_us)}.`;
  const by = model.roof.times === 'model'
    ? `by the compiler's model of an ${model.roof.of}: a launch, and what its units or its memory take`
    : `by the roofline of ${model.roof.of}, which most steps do not reach; more cores and caches are faster`;
  return `Estimated, not measured: ${timeText(end)}, ${by}. ${plan.streams > 1 ? `${plan.streams} streams run side by side; one by one the steps would take ${timeText(total)}.` : ''} A program measures it: app profile --report=FILE.`;
}

function drawLanes(plan) {
  byId('time-text').textContent = timeSource(plan);
  const { times, end, measured } = timesOf(plan);
  const lanes = plan.streams, lane = 34;
  const { svg, inner } = frame('lanes', lanes * lane + 52, { left: 66, right: 14, top: 6, bottom: 42 });
  const x = d3.scaleLinear().domain([0, end || 1]).range([inner.left, inner.right]);
  grid(svg, d3.axisBottom(x).ticks(inner.right > 700 ? 10 : 5).tickSize(inner.bottom - inner.top), `translate(0,${inner.top})`);
  axis(svg, d3.axisBottom(x).ticks(inner.right > 700 ? 10 : 5).tickSizeOuter(0), `translate(0,${inner.bottom})`,
    `µs since the plan began${measured ? '' : ', estimated'}`, { x: inner.right, y: inner.bottom + 34, anchor: 'end' });
  for (let i = 0; i < lanes; ++i)
    svg.append('text').attr('class', 'soft').attr('x', 0).attr('y', inner.top + i * lane + lane / 2 + 4).text(lanes > 1 ? `stream ${i + 1}` : 'steps');
  const data = plan.steps.map((step, i) => ({ id: i + 1, step, time: times[i] }));
  const group = svg.append('g').attr('class', 'lane').selectAll('g').data(data).enter().append('g');
  const wide = (datum) => Math.max(1, x(datum.time.start + datum.time.length) - x(datum.time.start));
  const marks = group.append('rect').attr('class', ({ step }) => `mark c-${wayOf(step)}`).attr('x', ({ time }) => x(time.start))
    .attr('y', ({ step }) => inner.top + (step.stream || 0) * lane + 3).attr('width', wide).attr('height', lane - 6).attr('rx', (datum) => Math.min(4, wide(datum) / 3));
  stepMarks(marks, plan);
  group.each(function (datum) {
    const room = wide(datum) - 10;
    if (room < 12) return;
    const text = d3.select(this).append('text').attr('class', 'name').attr('x', x(datum.time.start) + 5)
      .attr('y', inner.top + (datum.step.stream || 0) * lane + lane / 2 + 4).text(room < 60 ? datum.id : `${datum.id} ${datum.step.name}`);
    fit(text, room);
  });
}

/** Tensors in the arena, from when to when. */
function heldIn(plan) {
  const { times, end } = timesOf(plan);
  const begin = (step) => (step < 1 ? 0 : step > times.length ? end : times[step - 1].start);
  const done = (step) => (step > times.length ? end : step < 1 ? 0 : times[step - 1].start + times[step - 1].length);
  const all = plan.inputs.map((input) => ({ ...input, way: 'none' }));
  for (const step of plan.steps) for (const result of step.results) all.push({ ...result, way: wayOf(step) });
  return all.filter((tensor) => tensor.bytes > 0)
    .map((tensor) => ({ ...tensor, from: begin(tensor.first), to: Math.max(done(tensor.last), begin(tensor.first)) }));
}

function drawArena(plan) {
  const held = heldIn(plan), { end, measured } = timesOf(plan);
  const kept = model.parameter_bytes || 0;
  const moments = Array.from(new Set(held.flatMap((tensor) => [tensor.from, tensor.to]))).sort(d3.ascending);
  const live = moments.map((at) => ({ at, bytes: d3.sum(held, (tensor) => (tensor.from <= at && at < tensor.to && tensor.offset >= kept ? tensor.bytes : 0)) }));
  const most = d3.max(live, (one) => one.bytes) || 0;
  const all = d3.sum(held.filter((tensor) => tensor.offset >= kept), (tensor) => tensor.bytes);
  byId('arena-text').textContent = `${bytesText(plan.arena_bytes)} hold all tensors of the plan${kept ? `, ${bytesText(kept)} of them parameters and what the optimizer remembers` : ''}. Without reuse the tensors of a run would take ${bytesText(all)}; at most ${bytesText(most)} are alive at the same time (dotted). Each box is a tensor: its address, and from when to when it is needed.`;
  const { svg, inner } = frame('arena', 300, { left: 66, right: 14, top: 10, bottom: 42 });
  const x = d3.scaleLinear().domain([0, end || 1]).range([inner.left, inner.right]);
  const y = d3.scaleLinear().domain([0, plan.arena_bytes || 1]).range([inner.bottom, inner.top]);
  grid(svg, d3.axisLeft(y).ticks(5).tickSize(inner.left - inner.right), `translate(${inner.left},0)`);
  axis(svg, d3.axisLeft(y).ticks(5).tickFormat(bytesText).tickSizeOuter(0), `translate(${inner.left},0)`);
  axis(svg, d3.axisBottom(x).ticks(inner.right > 700 ? 10 : 5).tickSizeOuter(0), `translate(0,${inner.bottom})`,
    `µs since the plan began${measured ? '' : ', estimated'}`, { x: inner.right, y: inner.bottom + 34, anchor: 'end' });
  if (kept) {
    const box = svg.append('rect').attr('class', 'held c-none').attr('x', inner.left).attr('width', inner.right - inner.left)
      .attr('y', y(kept)).attr('height', inner.bottom - y(kept));
    withTip(box.datum(kept), () => `parameters: ${bytesText(kept)}, always`);
    if (inner.bottom - y(kept) > 16) svg.append('text').attr('class', 'soft').attr('x', inner.left + 8).attr('y', (y(kept) + inner.bottom) / 2 + 4).text('parameters');
  }
  const boxes = svg.append('g').selectAll('rect').data(held.filter((tensor) => tensor.offset >= kept)).enter().append('rect')
    .attr('class', (tensor) => `held c-${tensor.way}`).attr('x', (tensor) => x(tensor.from)).attr('width', (tensor) => Math.max(1, x(tensor.to) - x(tensor.from)))
    .attr('y', (tensor) => y(tensor.offset + tensor.bytes)).attr('height', (tensor) => Math.max(0.8, y(tensor.offset) - y(tensor.offset + tensor.bytes)));
  withTip(boxes, (tensor) => `${tensor.name}\n${shapeText(tensor.type)}, ${bytesText(tensor.bytes)}\nat ${d3.format(',')(tensor.offset)}, ${tensor.first < 1 ? 'from the start' : `from step ${tensor.first}`} ${tensor.last > plan.steps.length ? 'to the end' : `to step ${tensor.last}`}`);
  svg.append('path').attr('class', 'total').attr('d', d3.line().x((one) => x(one.at)).y((one) => y(kept + one.bytes)).curve(d3.curveStepAfter)(live));
}

function drawRoof(plan) {
  const { measured, times } = timesOf(plan);
  const data = plan.steps.map((step, i) => ({ id: i + 1, step, x: step.flops / step.bytes, y: step.flops / times[i].length, time: times[i].length }))
    .filter((one) => one.step.flops > 0 && one.step.bytes > 0 && one.time > 0);
  const used = new Set(plan.steps.map((step) => step.mma || 'ffma'));
  const threads = measured ? threadsOf() : 1;
  const units = Object.entries(model.roof.flops_per_us).filter(([unit]) => unit === 'ffma' || used.has(unit)).map(([unit, flops]) => ({ unit, flops: flops * threads }));
  byId('roof-text').textContent = `A step can be no faster than its multiplications or its bytes allow: at best ${units.map(({ unit, flops }) => `${rateText(flops)}${unit === 'ffma' ? '' : ` in ${unit}`}`).join(', ')} and ${bytesText(model.roof.bytes_per_us * 1e6)}/s, what ${model.roof.of} ${threads > 1 ? `would have ${threads} times, but for its memory,` : 'has'}. ${measured ? `Steps are as measured on ${report.profile.device}; what is in caches is faster than memory.` : 'Steps are where the estimate has them: small ones are far below, as a launch takes longer than their work.'} A dot's area is the step's time.`;
  const { svg, inner } = frame('roof', 340, { left: 88, right: 18, top: 14, bottom: 44 });
  if (data.length === 0) return;
  const top = d3.max(units, (one) => one.flops);
  const low = Math.min(d3.min(data, (one) => one.x), 1) / 2, high = Math.max(d3.max(data, (one) => one.x), top / model.roof.bytes_per_us) * 3;
  const x = d3.scaleLog().domain([low, high]).range([inner.left, inner.right]);
  const y = d3.scaleLog().domain([d3.min(data, (one) => one.y) / 2, Math.max(top, d3.max(data, (one) => one.y)) * 1.8]).range([inner.bottom, inner.top]).clamp(true);
  const powers = (scale) => d3.range(Math.ceil(Math.log10(scale.domain()[0])), Math.floor(Math.log10(scale.domain()[1])) + 1).map((power) => 10 ** power);
  grid(svg, d3.axisBottom(x).tickValues(powers(x)).tickSize(inner.bottom - inner.top), `translate(0,${inner.top})`);
  grid(svg, d3.axisLeft(y).tickValues(powers(y)).tickSize(inner.left - inner.right), `translate(${inner.left},0)`);
  axis(svg, d3.axisBottom(x).tickValues(powers(x)).tickFormat(d3.format(',~r')).tickSizeOuter(0), `translate(0,${inner.bottom})`, 'FLOP for each byte', { x: inner.right, y: inner.bottom + 36, anchor: 'end' });
  axis(svg, d3.axisLeft(y).tickValues(powers(y)).tickFormat(rateText).tickSizeOuter(0), `translate(${inner.left},0)`);
  for (const { unit, flops } of units) {
    const line = [low, flops / model.roof.bytes_per_us, high].map((at) => [x(at), y(Math.min(flops, at * model.roof.bytes_per_us))]);
    svg.append('path').attr('class', 'roofline').attr('d', d3.line()(line));
    svg.append('text').attr('class', 'soft').attr('x', inner.right - 2).attr('y', y(flops) - 6).attr('text-anchor', 'end').text(unit === 'ffma' ? 'FMA units, f32' : `tensor cores, ${unit}`);
  }
  const area = d3.scaleSqrt().domain([0, d3.max(data, (one) => one.time)]).range([3, 15]);
  const marks = svg.append('g').selectAll('circle').data(data.sort((a, b) => b.time - a.time)).enter().append('circle')
    .attr('class', ({ step }) => `mark c-${wayOf(step)}`).attr('cx', (one) => x(one.x)).attr('cy', (one) => y(one.y)).attr('r', (one) => area(one.time)).attr('fill-opacity', 0.75);
  stepMarks(marks, plan);
}

function table(place, columns, rows, onrow) {
  const head = columns.map((column) => element('th', { scope: 'col', class: column.number ? 'number' : null }, column.title));
  const body = rows.map((row, i) => element('tr', onrow ? { class: 'open', onclick: () => onrow(row, i) } : {},
    ...columns.map((column) => element('td', { class: column.number ? 'number' : column.tight ? 'tight' : null }, ...[column.of(row, i)].flat()))));
  byId(place).replaceChildren(element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...body));
}

function drawSteps(plan) {
  const { measured, times } = timesOf(plan);
  const time = measured ? 'µs' : 'µs, estimated';
  table('steps', [
    { title: 'step', number: true, of: (_, i) => String(i + 1) },
    { title: 'name', of: (step) => step.name },
    { title: 'runs as', of: (step) => element('div', { class: 'clamp', title: step.runs_as }, element('i', { class: `c-${wayOf(step)}` }), step.runs_as) },
    { title: 'result', tight: true, of: (step) => (step.results.length > 1 ? countText(step.results.length, 'tensor') : shapeText(step.result)) },
    { title: 'MFLOP', number: true, of: (step) => d3.format(',.3f')(step.flops / 1e6) },
    { title: 'kB', number: true, of: (step) => d3.format(',.1f')(step.bytes / 1e3) },
    { title: time, number: true, of: (_, i) => d3.format(',.2f')(times[i].length) },
    { title: 'of the roofline', number: true, of: (_, i) => percentText(roofShare(plan, i + 1)) },
    { title: 'nodes', of: (step) => step.nodes.join(', ') },
  ], plan.steps, (_, i) => choose('step', i + 1));
}
