import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct, IConstruct } from 'constructs';
import {
  ABANDONED_ENTRIES,
  BACKLOG_AGE,
  CHECKED,
  DEAD_LETTERS,
  DELIVERED,
  ENDED,
  FAILED_INVOCATIONS,
  IN_FLIGHT,
  LEDGER_DIFFERENCE,
  LEFT_IN_QUEUE,
  MAIL,
  PURGED,
  RATE_LIMITER_FAILURES,
  RECONCILED,
  REDELIVERIES_RESUMED,
  SWEPT,
  THROTTLES,
  UNREADABLE_MESSAGES,
  UNREADABLE_ROWS,
} from '../../functions/aws/metrics.ts';
import { counted } from './alarms.ts';
import { API_STAGE } from './api.ts';
import { ServiceStack } from './stacks/service-stack.ts';

const { Stats } = cloudwatch;

export interface Graph {
  title: string;
  metrics: cloudwatch.IMetric[];
  /** Threshold of an alarm, or a limit. */
  line?: { value: number; label: string };
}

/** Metrics of the functions, labeled. */
const metricsOf =
  (scope: Construct) =>
  (name: string, label: string, statistic: string = Stats.SUM): cloudwatch.Metric =>
    counted(scope, name).with({ label, statistic });

export function affected(scope: Construct): Graph[] {
  const ours = metricsOf(scope);
  const latency = (name: string, label: string): cloudwatch.IMetric[] =>
    [50, 99].map((percent) => ours(name, `p${percent} ${label}`, Stats.p(percent)));
  const api = (metricName: string, label: string, statistic: string) =>
    new cloudwatch.Metric({
      namespace: 'AWS/ApiGateway',
      metricName,
      dimensionsMap: { ApiName: ServiceStack.of(scope).apiName, Stage: API_STAGE },
      statistic,
      label,
    });
  return [
    {
      title: 'From commit to receipt, and to the first attempt (ms)',
      metrics: [
        ...latency(DELIVERED.receiptLatency, 'receipt'),
        ...latency(DELIVERED.attemptLatency, 'first attempt'),
      ],
    },
    {
      title: 'How deliveries end',
      metrics: [
        ours(ENDED.succeeded, 'succeeded'),
        ours(ENDED.exhausted, 'exhausted'),
        ours(ENDED.skipped, 'skipped'),
        ours(RECONCILED.expired, 'expired'),
      ],
    },
    {
      title: 'API: requests and failures',
      metrics: [
        api('Count', 'requests', Stats.SUM),
        api('5XXError', '5xx', Stats.SUM),
        api('4XXError', '4xx', Stats.SUM),
        ours(FAILED_INVOCATIONS, 'failed invocations'),
      ],
    },
    {
      title: 'API: latency (ms)',
      metrics: [api('Latency', 'p50', Stats.p(50)), api('Latency', 'p99', Stats.p(99))],
    },
  ];
}

export function stuck(scope: Construct): Graph[] {
  const ours = metricsOf(scope);
  return [
    {
      title: 'Backlog: how late what is due is (s)',
      metrics: [
        ours(BACKLOG_AGE, 'oldest that is due', Stats.MAXIMUM),
        ours(RECONCILED.latestSeconds, 'latest parked', Stats.MAXIMUM),
      ],
      line: { value: 300, label: 'alarm' },
    },
    {
      title: 'In flight of the fullest delivery queue (% of 120,000)',
      metrics: [ours(IN_FLIGHT, 'in flight', Stats.MAXIMUM)],
      line: { value: 100, label: 'limit of SQS' },
    },
    {
      title: 'Parked and brought back',
      metrics: [
        ours(DELIVERED.parked, 'parked'),
        ours(RECONCILED.resumed, 'resumed'),
        ours(RECONCILED.resent, 'lost, sent again'),
        ours(RECONCILED.deferred, 'deferred'),
        ours(REDELIVERIES_RESUMED, 'redelivery jobs'),
      ],
    },
    {
      title: 'Background work that is late (s)',
      metrics: [
        ours(SWEPT.latestSeconds, 'sources', Stats.MAXIMUM),
        ours(PURGED.oldestSeconds, 'purges', Stats.MAXIMUM),
      ],
    },
  ];
}

export function reasons(scope: Construct): Graph[] {
  const ours = metricsOf(scope);
  return [
    {
      title: 'Calls that AWS throttled',
      metrics: [ours(THROTTLES, 'throttled')],
    },
    {
      title: 'Attempts, and those that receivers did not accept',
      metrics: [
        ours(DELIVERED.attempts, 'attempts'),
        ours(DELIVERED.failedAttempts, 'failed'),
        ours(DELIVERED.disabled, 'endpoints disabled'),
      ],
    },
    {
      title: 'What should not be',
      metrics: [
        ours(DEAD_LETTERS, 'dead letters'),
        ours(ABANDONED_ENTRIES, 'entries abandoned'),
        ours(UNREADABLE_MESSAGES, 'messages unreadable'),
        ours(UNREADABLE_ROWS, 'rows unreadable'),
        ours(LEDGER_DIFFERENCE, 'ledger differs'),
        ours(RATE_LIMITER_FAILURES, 'rate limiter failed'),
      ],
    },
    {
      title: 'Batches of which workers behind the bus left messages',
      metrics: Object.entries(LEFT_IN_QUEUE).map(([worker, name]) => ours(name, worker)),
    },
    {
      title: 'E-mail and sources that failed',
      metrics: [
        ours(MAIL.failed, 'mail refused'),
        ours(MAIL.unknown, 'mail, outcome unknown'),
        ours(MAIL.nobody, 'mail without recipient'),
        ours(MAIL.overBudget, 'mail over a budget'),
        ours(MAIL.ceiling, 'mail held back by the ceiling'),
        ours(CHECKED.failed, 'checks without content'),
      ],
    },
  ];
}

export function work(scope: Construct): Graph[] {
  const ours = metricsOf(scope);
  return [
    {
      title: 'Background work done',
      metrics: [
        ours(MAIL.sent, 'mails'),
        ours(SWEPT.sent, 'sources due'),
        ours(CHECKED.checked, 'sources checked'),
        ours(PURGED.deleted, 'rows purged'),
        ours(PURGED.open, 'purges open', Stats.MAXIMUM),
      ],
    },
  ];
}

export const lambdaMetric = (metricName: string, FunctionName: string, label: string, statistic: string) =>
  new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName },
    label,
    statistic,
  });

export const perFunction = (
  metricName: string,
  title: string,
  names: readonly string[],
  nameOf: (name: string) => string,
): Graph[] => [
  { title, metrics: names.map((name) => lambdaMetric(metricName, nameOf(name), name, Stats.SUM)) },
];

export const units = (
  metricName: string,
  { label, name }: { label: string; name: string },
): cloudwatch.Metric =>
  new cloudwatch.Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: name },
    label,
    statistic: Stats.SUM,
  });

export function queueGraphs(queues: readonly sqs.Queue[]): Graph[] {
  const [dead, working] = [queues.filter(isOfDeadLetters), queues.filter((queue) => !isOfDeadLetters(queue))];
  return [
    {
      title: 'Messages in queues',
      metrics: working.map((queue) =>
        queue.metricApproximateNumberOfMessagesVisible({
          label: createLabel(queue),
          statistic: Stats.MAXIMUM,
        }),
      ),
    },
    {
      title: 'Age of the oldest message (s)',
      metrics: working.map((queue) =>
        queue.metricApproximateAgeOfOldestMessage({ label: createLabel(queue), statistic: Stats.MAXIMUM }),
      ),
    },
    {
      title: 'Dead letters',
      metrics: dead.map((queue) =>
        queue.metricApproximateNumberOfMessagesVisible({
          label: createLabel(queue),
          statistic: Stats.MAXIMUM,
        }),
      ),
    },
  ];
}

const isOfDeadLetters = ({ node: { id } }: IConstruct): boolean => /^(Dead|Unreadable)/.test(id);
/** Without the stack: `Delivery Fresh`, `Bus Meter Queue`. */
const createLabel = ({ node }: IConstruct): string => node.path.split('/').slice(1).join(' ');
