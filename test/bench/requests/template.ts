import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import * as metrics from '../../../functions/aws/metrics.ts';
import type { Piece } from '../../../lib/cost/measured.ts';
import { type StackContext, synthesize } from '../../../lib/local-run/start/synthesis.ts';

const Resource = z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) });
const FunctionProperties = z.object({
  MemorySize: z.number().default(128),
  Environment: z.object({ Variables: z.object({ FUNCTION_NAME: z.string() }) }),
});

const HOURS_A_MONTH = 730;
/** A poller waits twenty seconds for a message. */
const EMPTY_POLLS_AN_HOUR = 3600 / 20;
/** Pollers of an idle queue (Lambda Developer Guide, Configuring scaling behavior for SQS). */
const POLLERS = { withMaximum: 5, without: 2 };
/** A queue's data key is reused for an hour, by a sender, who takes two requests, and a receiver. */
const KEY_REQUESTS_OF_A_QUEUE = 3 * HOURS_A_MONTH;
/** Each function that uses a table, and each instance with a keyring, renews its key every five minutes. */
const REFRESHES_A_MONTH = 12 * HOURS_A_MONTH;
/** Estimated number of functions that use a table at a time, for requests to KMS. */
const READERS_OF_A_TABLE = 5;
/** Instances with a keyring, at any load. */
const STANDING_INSTANCES = 2;

/** What a stage's template says about cost. */
export interface TemplateFacts {
  /** MiB by function. */
  memory: Readonly<Record<string, number>>;
  /** Runs a month of scheduled functions. */
  schedules: Readonly<Record<string, number>>;
  /** Billed resources of a month in which nothing happens, and what they add in one that is used. */
  resources: Piece[string];
  inUse: Piece[string];
}

/** @param context of the stage */
export async function readTemplate(context: StackContext): Promise<TemplateFacts> {
  const directory = mkdtempSync(join(tmpdir(), 'assembly-'));
  try {
    await synthesize({
      assembly: join(directory, 'assembly'),
      compileCache: join(tmpdir(), 'service-compile-cache'),
      context,
      signal: AbortSignal.timeout(600_000),
    });
    return factsOf(join(directory, 'assembly'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function factsOf(assembly: string): TemplateFacts {
  const resources = new Map(
    readdirSync(assembly)
      .filter((name) => name.endsWith('.template.json'))
      .flatMap((name) => Object.entries(JSON.parse(readFileSync(join(assembly, name), 'utf8')).Resources))
      .map(([id, resource]) => [id, Resource.parse(resource)]),
  );
  const ofType = (type: string) => [...resources.values()].filter(({ Type }) => Type === type);
  const count = (type: string) => ofType(type).length;
  const functions = new Map(
    [...resources].flatMap(([id, { Type, Properties }]) => {
      const parsed = Type === 'AWS::Lambda::Function' && FunctionProperties.safeParse(Properties).data;
      return parsed ? [[id, parsed] as const] : [];
    }),
  );
  /** The function's logical id is in any reference to it, by an alias or an export too. */
  const functionIn = (reference: unknown): string | undefined => {
    const text = JSON.stringify(reference);
    const alias = [...resources].find(([id, { Type }]) => Type === 'AWS::Lambda::Alias' && text.includes(id));
    const [, match] = [...functions].find(([id]) => text.includes(id)) ?? [];
    if (match) return match.Environment.Variables.FUNCTION_NAME;
    return alias && functionIn(alias[1].Properties.FunctionName);
  };
  const schedules = ofType('AWS::Events::Rule').flatMap(({ Properties }) => {
    const { ScheduleExpression, Targets } = Properties;
    const name = functionIn(Targets ?? []);
    if (ScheduleExpression === undefined || name === undefined) return [];
    return [[name, HOURS_A_MONTH * runsAnHour(String(ScheduleExpression))] as const];
  });
  const queueSources = ofType('AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => !/StreamArn/.test(JSON.stringify(Properties.EventSourceArn)),
  );
  const pollers = queueSources.map(({ Properties }) =>
    Properties.ScalingConfig === undefined ? POLLERS.without : POLLERS.withMaximum,
  );
  const [keys, secrets] = [count('AWS::KMS::Key'), count('AWS::SecretsManager::Secret')];
  const tables = [...resources].filter(([, { Type }]) => Type === 'AWS::DynamoDB::GlobalTable');
  /** Tables in the environment of scheduled functions, each for each. */
  const idleReaders = ofType('AWS::Lambda::Function').flatMap(({ Properties }) => {
    const { data } = FunctionProperties.shape.Environment.safeParse(Properties.Environment);
    if (!schedules.some(([name]) => name === data?.Variables.FUNCTION_NAME)) return [];
    // Without its hash, which a reference between nested stacks does not have.
    return tables.filter(([id]) => JSON.stringify(Properties.Environment).includes(id.slice(0, -8)));
  });
  const keyRequests = (uses: number) => (keys === 0 ? 0 : uses * REFRESHES_A_MONTH);
  return {
    memory: Object.fromEntries(
      [...functions.values()].map((one) => [one.Environment.Variables.FUNCTION_NAME, one.MemorySize]),
    ),
    schedules: Object.fromEntries(schedules),
    resources: {
      queueRequests: sum(pollers) * EMPTY_POLLS_AN_HOUR * HOURS_A_MONTH,
      alarmMetrics: sum(ofType('AWS::CloudWatch::Alarm').map(countMetrics)),
      dashboards: count('AWS::CloudWatch::Dashboard'),
      keys,
      keyRotations:
        2 * ofType('AWS::KMS::Key').filter(({ Properties }) => Properties.EnableKeyRotation).length,
      keyRequests: keyRequests(idleReaders.length),
      secrets,
      webAcls: count('AWS::WAFv2::WebACL'),
      webAclRules: ofType('AWS::WAFv2::WebACL').flatMap(({ Properties }) => Properties.Rules ?? []).length,
    },
    inUse: {
      customMetrics: metricNames().length,
      keyRequests:
        keyRequests(tables.length * READERS_OF_A_TABLE - idleReaders.length) +
        (keys === 0 ? 0 : count('AWS::SQS::Queue') * KEY_REQUESTS_OF_A_QUEUE),
      secretReads: secrets * STANDING_INSTANCES * REFRESHES_A_MONTH,
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

/** Those of an expression, or the one of an alarm without one. */
const countMetrics = ({ Properties: { Metrics } }: z.output<typeof Resource>): number =>
  Array.isArray(Metrics) ? Metrics.filter((metric) => 'MetricStat' in metric).length : 1;

/** @param expression as EventBridge has it, for example `rate(1 minute)` */
function runsAnHour(expression: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const hours = { minute: 1 / 60, hour: 1, day: 24 }[unit ?? ''];
  if (hours === undefined) throw new Error(`a schedule is of no known form: ${expression}`);
  return 1 / (Number(count) * hours);
}

/** Each name is a custom metric, which is billed for the hours in which it has a value. */
function metricNames(): string[] {
  const { METRICS: _, ...names } = metrics;
  return Object.values(names).flatMap((named: unknown) =>
    typeof named === 'string' ? [named] : Object.values(Object(named)).map(String),
  );
}
