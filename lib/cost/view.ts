import type { styleText } from 'node:util';
import type { Figures } from './figures.ts';
import type { Measured } from './measured.ts';
import { PRICE_LIST, type Priced } from './prices.ts';
import type { Bill, Line } from './pricing.ts';
import { HOURS_A_MONTH, type Workload } from './workload.ts';

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** A month's cost, and its fixed part. */
export interface Estimate {
  workload: Workload;
  bill: Bill;
  /** USD of a month without work. */
  standingUsd: number;
  figures: Figures;
  measured: Measured;
}

const BAR = 20;
const WIDTHS = { what: 26, quantity: 12, price: 18, usd: 12, share: 8 };
const RULE = '─'.repeat(2 + Object.values(WIDTHS).reduce((sum, width) => sum + width, 0) + 2 + BAR);

/** Renders the estimate as a table by service, most expensive first. */
export function renderEstimate(estimate: Estimate, paint: Paint): string {
  const { bill } = estimate;
  return [
    '',
    `  ${paint('bold', 'What a month costs')}  ${paint('dim', `${PRICE_LIST.region}, list prices of ${PRICE_LIST.date}, ${HOURS_A_MONTH} h`)}`,
    `  ${describeWorkload(estimate.workload)}`,
    '',
    paint('dim', row('', 'quantity', 'price, USD', 'USD/month', 'share')),
    ...bill.services
      .filter(({ lines }) => lines.length > 0)
      .flatMap(({ service, lines, usd }) => [
        paint('bold', row(service, '', '', formatMoney(usd), percent(usd, bill.usd))) +
          paint('cyan', `  ${bar(usd, bill.usd)}`),
        ...lines.map((line) => renderLine(line, bill.usd)),
      ]),
    paint('dim', `  ${RULE.slice(2)}`),
    paint('bold', row('Total', '', '', formatMoney(bill.usd), '')),
    paint('dim', row('  if nothing happened', '', '', formatMoney(estimate.standingUsd), '')),
    '',
    ...perMillion(estimate, paint),
    '',
    ...assumptions(estimate).map((line) => paint('dim', `  ${line}`)),
    '',
  ].join('\n');
}

const row = (what: string, quantity: string, price: string, usd: string, share: string): string =>
  `  ${what.padEnd(WIDTHS.what)}${quantity.padStart(WIDTHS.quantity)}${price.padStart(WIDTHS.price)}${usd.padStart(WIDTHS.usd)}${share.padStart(WIDTHS.share)}`.trimEnd();

const renderLine = ({ name, what, quantity, price, unit, usd }: Line, total: number): string =>
  row(
    `  ${what}`,
    renderQuantity(name, quantity),
    `${plainNumber(price)} / ${unit}`,
    formatMoney(usd),
    percent(usd, total),
  );

/** Zero has no bar, the smallest cost the thinnest. */
const bar = (usd: number, total: number): string => {
  const eighths = total === 0 ? 0 : Math.round((usd / total) * BAR * 8);
  const rest = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8] ?? '';
  return '█'.repeat(Math.floor(eighths / 8)) + rest;
};

function describeWorkload(workload: Workload): string {
  const { deliveries, messages, reads, endpoints, organizations, bodySize } = workload;
  const { failureRate, hangingRate, limitedRate } = workload;
  return [
    `${formatShort(deliveries)} deliveries of ${bodySize} bytes`,
    `${renderCount(endpoints, 'endpoint')} of ${renderCount(organizations, 'organization')}`,
    `${formatShort(messages)} messages`,
    ...(reads > 0 ? [`${formatShort(reads)} reads`] : []),
    `${rate(failureRate)} of attempts fail`,
    ...(hangingRate > 0 ? [`${rate(hangingRate)} of deliveries at endpoints that hang`] : []),
    ...(limitedRate > 0 ? [`${rate(limitedRate)} at endpoints with a limit`] : []),
  ].join(', ');
}

const renderCount = (count: number, what: string): string =>
  `${formatShort(count)} ${what}${count === 1 ? '' : 's'}`;

function perMillion({ workload, bill, standingUsd, figures }: Estimate, paint: Paint): string[] {
  const line = (usd: string, what: string) => `  ${paint('bold', usd.padStart(10))}  ${what}`;
  const all = workload.deliveries === 0 ? 0 : ((bill.usd - standingUsd) / workload.deliveries) * 1e6;
  return [
    `  ${paint('bold', 'A million of them, USD')}`,
    ...(all > 0
      ? [line(formatMoney(all), 'deliveries of this month, with API calls, background work and storage')]
      : []),
    line(
      formatMoney(figures.firstTry),
      'first-try deliveries, from the outbox to the receiver, logs and traffic included',
    ),
    line(formatMoney(figures.exhausted), 'deliveries that fail eight times'),
    line(formatMoney(figures.timedOutAttempt), 'attempts at an endpoint that does not answer in 10 s'),
    line(formatMoney(figures.message), 'API calls that record a message, without what they cause'),
  ];
}

function assumptions({ workload, measured }: Estimate): string[] {
  const batches =
    workload.batch === undefined
      ? `Evenly spread over ${formatShort(workload.busyHours)} h a month, which is what fills batches (--busy-hours, --batch).`
      : `Batches of ${workload.batch} records, or as many as a mapping takes.`;
  return [
    `Requests were counted on the local run on ${measured.date} (npm run bench -- requests). No free tier, discount or tax.`,
    batches,
    `A receiver answers after ${workload.receiverLatencyMs} ms; processor time is that of the machine that measured; 5 ms for each request of AWS.`,
    `Conversations are kept for ${workload.retentionDays} days (--retention-days), logs for ${measured.template.logRetentionDays}; storage is that of a month like those before it.`,
    'Not in it: Cognito, knowledge sources, e-mail, cold starts, support. docs/cost.md says how it is calculated.',
  ];
}

/** Two decimals; less than a cent is not shown as zero. */
function formatMoney(usd: number): string {
  if (usd > 0 && usd < 0.005) return '< 0.01';
  return usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

const percent = (usd: number, total: number): string =>
  total === 0 ? '' : `${((usd / total) * 100).toFixed(1)} %`;

const rate = (share: number): string => `${plainNumber(Number((share * 100).toPrecision(3)))} %`;

const plainNumber = (value: number): string => String(value);

const renderQuantity = (name: Priced, quantity: number): string =>
  /Gb/.test(name)
    ? `${quantity < 10 ? quantity.toFixed(2) : formatShort(quantity)} GB`
    : formatShort(quantity);

const SIZES: readonly [number, string][] = [
  [1e9, ' G'],
  [1e6, ' M'],
  [1e4, ' k'],
];

/** Three digits: `10 M`, `64.1 M`, `730`. */
function formatShort(value: number): string {
  const [size, suffix] = SIZES.map(([from, name]) => [name === ' k' ? 1e3 : from, name, from] as const).find(
    ([, , from]) => value >= from,
  ) ?? [1, ''];
  return `${Number((value / size).toPrecision(3))}${suffix}`;
}
