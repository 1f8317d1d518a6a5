/*
 * AWS list prices in USD: on demand, without free tiers, discounts or taxes. Compare them with their source
 * pages before you base a decision on them.
 */

/** Date and region of the list. */
export const PRICE_LIST = { date: '2026-11-21', region: 'us-east-1' } as const;

/** Services, as on a bill. */
export const SERVICES = [
  'DynamoDB',
  'Lambda',
  'API Gateway',
  'SQS',
  'EventBridge',
  'CloudWatch',
  'Data transfer',
  'KMS',
  'Secrets Manager',
  'SES',
  'WAF',
] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface Price {
  service: ServiceName;
  what: string;
  /** USD per `per`. */
  usd: number;
  /** Quantity that the price is for. */
  per: number;
  /** Unit of `per`: `1M`, `GB`. */
  unit: string;
  /** AWS page with the price. */
  source: string;
}

const MILLION = 1_000_000;
const page = (name: string) => `https://aws.amazon.com/${name}/pricing/`;
const DYNAMODB = 'https://aws.amazon.com/dynamodb/pricing/on-demand/';

/** Prices by the names in the usage. */
export const PRICES = {
  writeUnits: {
    service: 'DynamoDB',
    what: 'write request units',
    usd: 0.625,
    per: MILLION,
    unit: '1M',
    source: DYNAMODB,
  },
  readUnits: {
    service: 'DynamoDB',
    what: 'read request units',
    usd: 0.125,
    per: MILLION,
    unit: '1M',
    source: DYNAMODB,
  },
  tableGbMonths: {
    service: 'DynamoDB',
    what: 'storage',
    usd: 0.25,
    per: 1,
    unit: 'GB',
    source: DYNAMODB,
  },
  recoveryGbMonths: {
    service: 'DynamoDB',
    what: 'point-in-time recovery',
    usd: 0.2,
    per: 1,
    unit: 'GB',
    source: DYNAMODB,
  },
  invocations: {
    service: 'Lambda',
    what: 'requests',
    usd: 0.2,
    per: MILLION,
    unit: '1M',
    source: page('lambda'),
  },
  gbSeconds: {
    service: 'Lambda',
    what: 'GB-seconds, arm64',
    usd: 13.3334,
    per: MILLION,
    unit: '1M',
    source: page('lambda'),
  },
  apiCalls: {
    service: 'API Gateway',
    what: 'REST API calls',
    usd: 3.5,
    per: MILLION,
    unit: '1M',
    source: page('api-gateway'),
  },
  queueRequests: {
    service: 'SQS',
    what: 'requests, standard queues',
    usd: 0.4,
    per: MILLION,
    unit: '1M',
    source: page('sqs'),
  },
  busEvents: {
    service: 'EventBridge',
    what: 'custom events',
    usd: 1,
    per: MILLION,
    unit: '1M',
    source: page('eventbridge'),
  },
  logGb: {
    service: 'CloudWatch',
    what: 'logs, ingested',
    usd: 0.5,
    per: 1,
    unit: 'GB',
    source: page('cloudwatch'),
  },
  logGbMonths: {
    service: 'CloudWatch',
    what: 'logs, stored',
    usd: 0.03,
    per: 1,
    unit: 'GB',
    source: page('cloudwatch'),
  },
  customMetrics: {
    service: 'CloudWatch',
    what: 'custom metrics',
    usd: 0.3,
    per: 1,
    unit: '1',
    source: page('cloudwatch'),
  },
  alarms: {
    service: 'CloudWatch',
    what: 'alarms',
    usd: 0.1,
    per: 1,
    unit: '1',
    source: page('cloudwatch'),
  },
  dashboards: {
    service: 'CloudWatch',
    what: 'dashboards',
    usd: 3,
    per: 1,
    unit: '1',
    source: page('cloudwatch'),
  },
  egressGb: {
    service: 'Data transfer',
    what: 'out to the internet',
    usd: 0.09,
    per: 1,
    unit: 'GB',
    source: 'https://aws.amazon.com/ec2/pricing/on-demand/',
  },
  keys: {
    service: 'KMS',
    what: 'customer-managed keys',
    usd: 1,
    per: 1,
    unit: '1',
    source: page('kms'),
  },
  keyRequests: {
    service: 'KMS',
    what: 'requests',
    usd: 0.03,
    per: 10_000,
    unit: '10k',
    source: page('kms'),
  },
  secrets: {
    service: 'Secrets Manager',
    what: 'secrets',
    usd: 0.4,
    per: 1,
    unit: '1',
    source: page('secrets-manager'),
  },
  secretReads: {
    service: 'Secrets Manager',
    what: 'requests',
    usd: 0.05,
    per: 10_000,
    unit: '10k',
    source: page('secrets-manager'),
  },
  mails: {
    service: 'SES',
    what: 'e-mails',
    usd: 0.1,
    per: 1000,
    unit: '1k',
    source: page('ses'),
  },
  webAcls: {
    service: 'WAF',
    what: 'web ACLs',
    usd: 5,
    per: 1,
    unit: '1',
    source: page('waf'),
  },
  webAclRules: {
    service: 'WAF',
    what: 'rules',
    usd: 1,
    per: 1,
    unit: '1',
    source: page('waf'),
  },
  inspectedRequests: {
    service: 'WAF',
    what: 'requests inspected',
    usd: 0.6,
    per: MILLION,
    unit: '1M',
    source: page('waf'),
  },
} as const satisfies Readonly<Record<string, Price>>;

export type Priced = keyof typeof PRICES;
