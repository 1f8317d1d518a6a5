/** Points of one line, by growing x. */
export interface Line {
  name: string;
  points: readonly { x: number; y: number }[];
}

export interface Panel {
  title: string;
  lines: readonly Line[];
}

const WIDTH = 340;
const HEIGHT = 220;
const MARGIN = { top: 34, right: 16, bottom: 34, left: 46 };
const HEADER = 40;
const LEGEND = 26;
/** Distinguishable without colour vision, in light and dark mode. */
const COLOURS = ['#2f7fd6', '#d9711a', '#2a9d63', '#a05ad0'];
const DASHES = ['', '6 4', '2 3', '8 3 2 3'];
const GRID_LINES = 4;

/**
 * Panels with lines, x logarithmic and y from 0, so that a constant looks flat. For light and dark mode, as
 * the viewer prefers.
 * @param columns panels side by side
 */
export function plot(title: string, panels: readonly Panel[], columns: number): string {
  const rows = Math.ceil(panels.length / columns);
  const [width, height] = [columns * WIDTH, HEADER + rows * HEIGHT + LEGEND];
  const names = [...new Set(panels.flatMap(({ lines }) => lines.map(({ name }) => name)))];
  const parts = panels.map(
    (panel, index) =>
      `<g transform="translate(${(index % columns) * WIDTH} ${HEADER + Math.floor(index / columns) * HEIGHT})">${panelOf(panel, names)}</g>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" role="img" aria-label="${escaped(title)}">`,
    STYLE,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    `<text class="title" x="16" y="26">${escaped(title)}</text>`,
    ...parts,
    legend(names, height - 10),
    '</svg>\n',
  ].join('\n');
}

const STYLE = `<style>
.paper{fill:#fff}.title{font-size:16px;font-weight:600}text{fill:#1c2330;font-size:11px}.panel{font-size:12px;font-weight:600}.axis{stroke:#8892a0}.grid{stroke:#8892a0;stroke-opacity:.25}
@media(prefers-color-scheme:dark){.paper{fill:#14181f}text{fill:#e4e8ee}}
</style>`;

function panelOf({ title, lines }: Panel, names: readonly string[]): string {
  const points = lines.flatMap((line) => line.points);
  const most = niceAbove(Math.max(0, ...points.map(({ y }) => y)));
  const sizes = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const [left, right] = [MARGIN.left, WIDTH - MARGIN.right];
  const [top, bottom] = [MARGIN.top, HEIGHT - MARGIN.bottom];
  const span = placed(sizes.at(-1) ?? 1) - placed(sizes[0] ?? 0);
  const x = (size: number) =>
    left + (span === 0 ? 0.5 : (placed(size) - placed(sizes[0] ?? 0)) / span) * (right - left);
  const y = (value: number) => bottom - (value / most) * (bottom - top);
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, index) => (index * most) / GRID_LINES).map(
    (value) =>
      `<line class="grid" x1="${left}" x2="${right}" y1="${at(y(value))}" y2="${at(y(value))}"/><text x="${left - 6}" y="${at(y(value) + 4)}" text-anchor="end">${short(value)}</text>`,
  );
  const ticks = sizes.map((size, index) => {
    const anchor = index === 0 ? 'start' : index === sizes.length - 1 ? 'end' : 'middle';
    return `<text x="${at(x(size))}" y="${bottom + 16}" text-anchor="${anchor}">${short(size)}</text>`;
  });
  const drawn = lines.map(({ name, points: of }) => {
    const look = lookOf(names.indexOf(name));
    const path = of
      .map((point, index) => `${index === 0 ? 'M' : 'L'}${at(x(point.x))} ${at(y(point.y))}`)
      .join('');
    const dots = of.map(
      (point) => `<circle cx="${at(x(point.x))}" cy="${at(y(point.y))}" r="3" fill="${look.colour}"/>`,
    );
    return `<path d="${path}" fill="none" stroke="${look.colour}" stroke-width="2" stroke-dasharray="${look.dash}"/>${dots.join('')}`;
  });
  return [
    `<text class="panel" x="${left}" y="18">${escaped(title)}</text>`,
    ...grid,
    `<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    ...ticks,
    ...drawn,
  ].join('');
}

function legend(names: readonly string[], y: number): string {
  return names
    .map((name, index) => {
      const { colour, dash } = lookOf(index);
      const x = 16 + index * 170;
      return `<line x1="${x}" x2="${x + 26}" y1="${y - 4}" y2="${y - 4}" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/><text x="${x + 32}" y="${y}">${escaped(name)}</text>`;
    })
    .join('');
}

const lookOf = (index: number) => ({
  colour: COLOURS[index % COLOURS.length] ?? '#888888',
  dash: DASHES[index % DASHES.length] ?? '',
});

/** Logarithmic, with a place for zero. */
const placed = (size: number): number => Math.log10(Math.max(1, size));

/** The next larger of 1, 2 and 5 times a power of ten. */
function niceAbove(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

const at = (coordinate: number): string => String(Number(coordinate.toFixed(1)));

/** `100k`, `1M`, `2.5`. */
export function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

/** As text between tags and in attributes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
