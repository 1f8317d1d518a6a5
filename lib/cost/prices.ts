/*
 * AWS list prices in USD: on demand, without free tiers, discounts or taxes. Compare them with their source
 * pages before you base a decision on them.
 */

/** Date and region of the list. */
export const PRICE_LIST = { date: '2026-11-21', region: 'us-east-1' } as const;

/** Services as on a bill, with AWS's page of prices. */
export const SERVICES = {
  DynamoDB: 'https://aws.amazon.com/dynamodb/pricing/on-demand/',
  Lambda: 'https://aws.amazon.com/lambda/pricing/',
  'API Gateway': 'https://aws.amazon.com/api-gateway/pricing/',
  SQS: 'https://aws.amazon.com/sqs/pricing/',
  EventBridge: 'https://aws.amazon.com/eventbridge/pricing/',
  CloudWatch: 'https://aws.amazon.com/cloudwatch/pricing/',
  'Data transfer': 'https://aws.amazon.com/ec2/pricing/on-demand/',
  KMS: 'https://aws.amazon.com/kms/pricing/',
  'Secrets Manager': 'https://aws.amazon.com/secrets-manager/pricing/',
  WAF: 'https://aws.amazon.com/waf/pricing/',
} as const;
type Service = keyof typeof SERVICES;

const MILLION = 1_000_000;

interface Price {
  service: Service;
  what: string;
  usd: number;
  /** Quantity that the price is for. */
  per: number;
}

/** Prices by the names of billed quantities. */
export const PRICES = {
  writeUnits: { service: 'DynamoDB', what: 'write request units', usd: 0.625, per: MILLION },
  readUnits: { service: 'DynamoDB', what: 'read request units', usd: 0.125, per: MILLION },
  tableGbMonths: { service: 'DynamoDB', what: 'storage', usd: 0.25, per: 1 },
  recoveryGbMonths: { service: 'DynamoDB', what: 'point-in-time recovery', usd: 0.2, per: 1 },
  invocations: { service: 'Lambda', what: 'requests', usd: 0.2, per: MILLION },
  gbSeconds: { service: 'Lambda', what: 'GB-seconds, arm64', usd: 13.3334, per: MILLION },
  apiCalls: { service: 'API Gateway', what: 'REST API calls', usd: 3.5, per: MILLION },
  queueRequests: { service: 'SQS', what: 'requests, standard queues', usd: 0.4, per: MILLION },
  busEvents: { service: 'EventBridge', what: 'custom events', usd: 1, per: MILLION },
  logGb: { service: 'CloudWatch', what: 'logs, ingested', usd: 0.5, per: 1 },
  logGbMonths: { service: 'CloudWatch', what: 'logs, stored', usd: 0.03, per: 1 },
  customMetrics: { service: 'CloudWatch', what: 'custom metrics', usd: 0.3, per: 1 },
  // An alarm is billed for each metric that it evaluates.
  alarmMetrics: { service: 'CloudWatch', what: 'metrics of alarms', usd: 0.1, per: 1 },
  dashboards: { service: 'CloudWatch', what: 'dashboards', usd: 3, per: 1 },
  egressGb: { service: 'Data transfer', what: 'out to the internet', usd: 0.09, per: 1 },
  keys: { service: 'KMS', what: 'customer-managed keys', usd: 1, per: 1 },
  // A key costs as much again for each of its first two rotations.
  keyRotations: { service: 'KMS', what: 'rotations, from the third year on', usd: 1, per: 1 },
  keyRequests: { service: 'KMS', what: 'requests', usd: 0.03, per: 10_000 },
  secrets: { service: 'Secrets Manager', what: 'secrets', usd: 0.4, per: 1 },
  secretReads: { service: 'Secrets Manager', what: 'requests', usd: 0.05, per: 10_000 },
  webAcls: { service: 'WAF', what: 'web ACLs', usd: 5, per: 1 },
  webAclRules: { service: 'WAF', what: 'rules', usd: 1, per: 1 },
  inspectedRequests: { service: 'WAF', what: 'requests inspected', usd: 0.6, per: MILLION },
} as const satisfies Readonly<Record<string, Price>>;

export type Priced = keyof typeof PRICES;
export const ALL_PRICED = Object.keys(PRICES) as Priced[];

/** Billed quantities; an absent one is 0. */
export type Quantities = Readonly<Partial<Record<Priced, number>>>;

/** Weighted sum. */
export const sumOf = (...parts: readonly (readonly [times: number, quantities: Quantities])[]): Quantities =>
  Object.fromEntries(
    ALL_PRICED.map((name) => [
      name,
      parts.reduce((sum, [times, each]) => sum + times * (each[name] ?? 0), 0),
    ]),
  );

export const usdOf = (quantities: Quantities): number =>
  ALL_PRICED.reduce((sum, name) => sum + ((quantities[name] ?? 0) / PRICES[name].per) * PRICES[name].usd, 0);

/** Quantities by service, most expensive first, without those that are 0. */
export function bill(quantities: Quantities) {
  const lines = ALL_PRICED.map((name) => {
    const quantity = quantities[name] ?? 0;
    return { name, ...PRICES[name], quantity, cost: usdOf({ [name]: quantity }) };
  }).filter(({ quantity }) => quantity > 0);
  return (Object.keys(SERVICES) as Service[])
    .map((service) => {
      const own = lines.filter((line) => line.service === service);
      return { service, lines: own, cost: own.reduce((sum, { cost }) => sum + cost, 0) };
    })
    .filter(({ lines }) => lines.length > 0)
    .sort((one, other) => other.cost - one.cost);
}
