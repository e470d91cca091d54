// What a training came to: curves, which classes are taken for which, mistakes.

function section(title, id, place = byId('training')) {
  const made = element('section', { 'aria-labelledby': id }, element('h2', { id }, title));
  place.append(made);
  return made;
}

const finite = (number) => typeof number === 'number' && Number.isFinite(number);

/** 0.1, 0.2, 0.5, 1 ..., as far as the scale goes. */
function logTicks(scale) {
  const [low, high] = scale.domain();
  return d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1)
    .flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power)).filter((tick) => tick >= low && tick <= high);
}

/** Curves over epochs. series: {name, way, points: [[x, y]], faint, dots} */
function plotCurves(host, title, series, format, logarithmic, zero) {
  host.append(element('h3', {}, title));
  const place = element('div', { class: 'plot' });
  host.append(place);
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return;
  const { svg, inner } = frame(place, 240, { left: 58, right: 12, top: 12, bottom: 38 });
  const x = d3.scaleLinear().domain([0, d3.max(points, (point) => point[0])]).range([inner.left, inner.right]);
  const [low, high] = d3.extent(points, (point) => point[1]);
  const isLog = logarithmic && low > 0 && high / low >= 30;
  const y = isLog ? d3.scaleLog().domain([low / 1.2, high * 1.2]).range([inner.bottom, inner.top])
    : d3.scaleLinear().domain([zero ? 0 : low, high === low ? high + 1e-9 : high]).range([inner.bottom, inner.top]).nice();
  const ticks = isLog ? logTicks(y) : y.ticks(5);
  grid(svg, d3.axisLeft(y).tickValues(ticks).tickSize(inner.left - inner.right), `translate(${inner.left},0)`);
  axis(svg, d3.axisLeft(y).tickValues(ticks).tickFormat(format).tickSizeOuter(0), `translate(${inner.left},0)`);
  axis(svg, d3.axisBottom(x).ticks(Math.min(8, Math.max(2, x.domain()[1]))).tickSizeOuter(0), `translate(0,${inner.bottom})`, 'epoch', { x: inner.right, y: inner.bottom + 32, anchor: 'end' });
  const line = d3.line().x((point) => x(point[0])).y((point) => y(point[1]));
  for (const one of series) {
    svg.append('path').attr('class', `curve c-${one.way}${one.faint ? ' faint' : ''}`).attr('d', line(one.points));
    if (!one.dots) continue;
    const dots = svg.append('g').selectAll('circle').data(one.points).enter().append('circle').attr('class', `dot c-${one.way}`)
      .attr('cx', (point) => x(point[0])).attr('cy', (point) => y(point[1])).attr('r', 3.5);
    withTip(dots, (point) => `${one.name}, epoch ${trim(point[0], 4)}: ${format(point[1])}`);
  }
  const named = series.filter((one) => one.name);
  if (named.length > 1)
    host.append(element('ul', { class: 'legend' }, ...named.map((one) => element('li', { class: 'line' }, element('i', { class: `c-${one.way}` }), one.name))));
}

/** A long line is faint, with its moving mean on top. */
function smoothed(points, window) {
  return points.map((point, i) => [point[0], d3.mean(points.slice(Math.max(0, i - window + 1), i + 1), (other) => other[1])]);
}

function drawCurves(training) {
  const made = section('Training', 'curves-title');
  const last = training.epochs[training.epochs.length - 1];
  const result = last ? `After ${countText(last.epoch, 'epoch')}: training loss ${trim(last.train_loss, 4)}${last.loss === undefined ? '' : `, ${training.judge} loss ${trim(last.loss, 4)}`}${last.accuracy === undefined ? '' : `, ${training.judge} accuracy ${percentText(last.accuracy)}`}.` : '';
  made.append(element('p', {}, `Optimizer ${training.optimizer}, loss ${training.loss}, learning rate ${training.schedule.replace(/,/g, ', ')}; batch ${training.batch}, ${countText(training.rows, 'row')}${training.set_rows ? ` and ${d3.format(',')(training.set_rows)} of the ${training.set} set` : ''}, on ${training.device}. ${result}`));
  const two = element('div', { class: 'two' });
  made.append(two);
  const of = (key) => training.epochs.filter((epoch) => finite(epoch[key])).map((epoch) => [epoch.epoch, epoch[key]]);
  const columns = [0, 1, 2].map(() => element('div'));
  const accuracies = [{ name: 'training', way: 'train', points: of('train_accuracy'), dots: true }, { name: training.judge, way: 'test', points: of('accuracy'), dots: true }].filter((one) => one.points.length);
  // All of them first, since each is as wide as the others leave it.
  two.append(...columns.slice(accuracies.length ? 0 : 1));
  const steps = training.points.filter((point) => finite(point[1]));
  const window = Math.max(1, Math.round(steps.length / 40));
  plotCurves(columns[1], 'Loss', [
    ...(window > 1 ? [{ way: 'train', points: steps, faint: true }] : []),
    { name: 'training', way: 'train', points: smoothed(steps, window) },
    { name: training.judge, way: 'test', points: of('loss'), dots: true },
  ].filter((one) => one.points.length), (number) => trim(number, 3), true);
  if (accuracies.length) plotCurves(columns[0], 'Accuracy', accuracies, (number) => percentText(number));
  plotCurves(columns[2], 'Learning rate', [{ name: 'learning rate', way: 'train', points: training.rates }], (number) => d3.format('.2~g')(number), false, true);
}

const className = (training, number) => (training.classes ? training.classes[number] : String(number));

function drawConfusion(training, made) {
  const { confusion } = training;
  const count = confusion.length;
  const right = d3.sum(confusion, (row, i) => row[i]), all = d3.sum(confusion, (row) => d3.sum(row));
  made.append(element('p', {}, `${d3.format(',')(right)} of ${countText(all, `${training.set} row`)} are classified right. A row is a class, a column what the model takes it for; colour is the part of the row, of what is wrong by itself.`));
  const host = element('div', { class: 'scroll' }), plot = element('div', { class: 'plot' });
  host.append(plot); made.append(host);
  const size = Math.max(22, Math.min(46, (host.clientWidth - 82) / count));
  const left = 74, top = 40, width = left + size * count + 6;
  const svg = d3.select(plot).append('svg').attr('width', width).attr('height', top + size * count + 8).attr('viewBox', `0 0 ${width} ${top + size * count + 8}`);
  const wrong = d3.max(confusion, (row, i) => d3.max(row, (value, j) => (i === j ? 0 : value / Math.max(1, d3.sum(row))))) || 1;
  svg.append('text').attr('class', 'soft').attr('x', left).attr('y', 12).text('taken for');
  svg.append('text').attr('class', 'soft').attr('x', 0).attr('y', top - 8).text('class');
  const cells = confusion.flatMap((row, i) => row.map((value, j) => ({ i, j, value, part: value / Math.max(1, d3.sum(row)) })));
  const group = svg.append('g').selectAll('g').data(cells).enter().append('g').attr('class', 'cell').attr('transform', (cell) => `translate(${left + cell.j * size},${top + cell.i * size})`);
  group.append('rect').attr('width', size - 2).attr('height', size - 2).attr('rx', 3).attr('fill', 'currentColor').attr('class', (cell) => (cell.i === cell.j ? 'c-train' : 'c-test'))
    .attr('fill-opacity', (cell) => (cell.i === cell.j ? 0.12 + 0.5 * cell.part : cell.value ? 0.12 + 0.75 * cell.part / wrong : 0.035));
  group.filter((cell) => cell.value).append('text').attr('x', size / 2 - 1).attr('y', size / 2 - 1).text((cell) => cell.value);
  withTip(group, (cell) => `class ${className(training, cell.i)}, taken for ${className(training, cell.j)}: ${cell.value} (${percentText(cell.part)})`);
  confusion.forEach((_, i) => {
    fit(svg.append('text').attr('class', 'soft').attr('x', left - 8).attr('y', top + i * size + size / 2 + 3).attr('text-anchor', 'end').text(className(training, i)), left - 12);
    fit(svg.append('text').attr('class', 'soft').attr('x', left + i * size + size / 2 - 1).attr('y', top - 8).attr('text-anchor', 'middle').text(className(training, i)), size - 2);
  });
}

function drawWorst(training, made) {
  if (training.worst.length === 0) {
    made.append(element('p', {}, `The model makes no mistake on the ${training.set} set.`));
    return;
  }
  made.append(element('p', {}, `Rows of the ${training.set} set to whose class the model gives least: those with the greatest loss.`));
  made.append(element('ul', { class: 'worst' }, ...training.worst.map((row) => element('li', {},
    row.image ? element('img', { src: row.image, alt: `row ${row.row} of the ${training.set} set, class ${className(training, row.label)}`, loading: 'lazy' }) : null,
    element('p', {}, element('b', {}, className(training, row.label)), ', taken for ', element('b', {}, className(training, row.predicted)),
      ` with ${percentText(row.probability)}; row ${d3.format(',')(row.row)}`)))));
}

function drawTraining(training) {
  byId('training').replaceChildren();
  drawCurves(training);
  if (!training.confusion) return;
  const pair = element('div', { class: 'pair' });
  byId('training').append(pair);
  // Both first, since each is as wide as the other leaves it.
  const classes = section('Which class is taken for which', 'confusion-title', pair);
  const mistakes = section('The worst mistakes', 'worst-title', pair);
  drawConfusion(training, classes);
  drawWorst(training, mistakes);
}
