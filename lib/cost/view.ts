import type { styleText } from 'node:util';
import type { idleMonth, perMillion, Workload } from './month.ts';
import { type bill, PRICE_LIST, type Priced } from './prices.ts';

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** A month's cost. */
interface Estimate {
  /** Date of the counts. */
  measured: string;
  workload: Workload;
  usd: number;
  idleUsd: ReturnType<typeof idleMonth>;
  perMillion: ReturnType<typeof perMillion>;
  services: ReturnType<typeof bill>;
}

const BAR = 20;
const WIDTHS = [28, 12, 18, 12, 8] as const;

/** Renders the estimate as a table by service, most expensive first. */
export function renderEstimate(estimate: Estimate, paint: Paint): string {
  const { usd, idleUsd, services, measured, workload } = estimate;
  const million = estimate.perMillion;
  const rule = '─'.repeat(WIDTHS.reduce((sum, width) => sum + width, 0) + 2 + BAR);
  const lines = [
    '',
    `${paint('bold', 'What a month costs')}  ${paint('dim', `${PRICE_LIST.region}, list prices of ${PRICE_LIST.date}`)}`,
    describeWorkload(workload),
    '',
    paint('dim', row('', 'quantity', 'price, USD', 'USD/month', 'share')),
    ...services.flatMap(({ service, lines: own, cost }) => [
      paint('bold', row(service, '', '', money(cost), percent(cost, usd))) + bar(cost / usd, paint),
      ...own.map(({ name, what, quantity, usd: price, per, cost: part }) => {
        const amount = short(quantity) + (isGb(name) ? ' GB' : '');
        const unit = isGb(name) ? 'GB' : short(per).replace(' ', '');
        return row(`  ${what}`, amount, `${price} / ${unit}`, money(part), percent(part, usd));
      }),
    ]),
    paint('dim', rule),
    paint('bold', row('Total', '', '', money(usd), '')),
    ...(['prod', 'dev'] as const).map((stage) =>
      paint('dim', row(`  ${stage}, if nothing happened`, '', '', money(idleUsd[stage].usd), '')),
    ),
    '',
    paint('bold', row('A million of them, USD', '', '', 'steady', '', 'bursts')),
    row('First-try deliveries', '', '', money(million.firstTry), '', money(million.firstTryInBursts)),
    row('Deliveries that fail once', '', '', money(million.retried), ''),
    row('Deliveries that fail eight times', '', '', money(million.exhausted), ''),
    row('Attempts that time out after 10 s', '', '', money(million.timedOutAttempt), ''),
    row('Messages recorded over the API', '', '', money(million.message), '', money(million.messageInBursts)),
    '',
    ...[
      `Requests were counted on the local run on ${measured} (npm run bench -- requests), at four messages`,
      'a second and in bursts. No free tier, discount or tax. Not in it: Cognito, knowledge sources,',
      'e-mail, cold starts, support. docs/cost.md says how it is calculated.',
    ].map((line) => paint('dim', line)),
    '',
  ];
  return lines.map((line) => `  ${line}`.trimEnd()).join('\n');
}

const bar = (share: number, paint: Paint): string => {
  const blocks = '█'.repeat(Math.round(share * BAR));
  return blocks === '' ? '' : paint('cyan', `  ${blocks}`);
};

/** Cells to the right of the first; an empty one gives its place to a long first one. */
function row(what: string, ...cells: readonly string[]): string {
  const [first, ...widths] = WIDTHS;
  return cells
    .reduce((line, cell, index) => {
      const end = first + widths.slice(0, index + 1).reduce((sum, width) => sum + width, 0);
      return cell === '' ? line : line.padEnd(end - cell.length) + cell;
    }, what)
    .trimEnd();
}

function describeWorkload(workload: Workload): string {
  const { deliveries, messages, reads, failureRate, exhaustedRate, hangingRate, burst } = workload;
  const rate = (share: number) => `${Number((share * 100).toPrecision(3))} %`;
  return [
    `${short(deliveries)} deliveries`,
    `${short(messages)} messages`,
    ...(reads > 0 ? [`${short(reads)} reads`] : []),
    `${rate(failureRate)} fail once`,
    ...(exhaustedRate > 0 ? [`${rate(exhaustedRate)} fail eight times`] : []),
    ...(hangingRate > 0 ? [`${rate(hangingRate)} without an answer`] : []),
    burst ? 'in bursts' : 'at a steady rate',
  ].join(', ');
}

/** Two decimals; less than a cent is not shown as zero. */
const money = (usd: number): string =>
  usd > 0 && usd < 0.005
    ? '< 0.01'
    : usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const percent = (usd: number, total: number): string => `${((usd / total) * 100).toFixed(1)} %`;

const isGb = (name: Priced): boolean => name.includes('Gb');

const SIZES: readonly (readonly [number, string])[] = [
  [1e9, ' G'],
  [1e6, ' M'],
  [1e3, ' k'],
];

/** Three digits: `10 M`, `64.1 k`, `730`. */
function short(value: number): string {
  const [size, suffix] = SIZES.find(([from]) => value >= from) ?? [1, ''];
  return `${Number((value / size).toPrecision(3))}${suffix}`;
}
