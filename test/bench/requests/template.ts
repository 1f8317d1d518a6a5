import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import * as metrics from '../../../functions/aws/metrics.ts';
import type { Piece } from '../../../lib/cost/measured.ts';
import { MAIL_FROM, synthesize } from '../../../lib/local-run/start/synthesis.ts';
import { DASHBOARD_ORIGIN } from '../../support/service.ts';

const Resource = z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) });
const FunctionProperties = z.object({
  MemorySize: z.number().default(128),
  Environment: z.object({ Variables: z.object({ FUNCTION_NAME: z.string() }) }),
});

const HOURS_A_MONTH = 730;
/** Each queue has five pollers, which wait twenty seconds for a message. */
const EMPTY_POLLS_AN_HOUR = (5 * 3600) / 20;
/** Each instance reads data keys and keyrings every five minutes. */
const REFRESHES_A_MONTH = 12 * HOURS_A_MONTH;
/** Estimated number of functions that use a table at a time, for requests to KMS. */
const READERS_OF_A_TABLE = 5;
/** Instances with a keyring, at any load. */
const STANDING_INSTANCES = 2;

/** What production's template says about cost. */
export interface TemplateFacts {
  /** MiB by function. */
  memory: Readonly<Record<string, number>>;
  /** Runs a month of scheduled functions. */
  schedules: Readonly<Record<string, number>>;
  /** Billed resources of a month. */
  resources: Piece[string];
}

export async function readTemplate(): Promise<TemplateFacts> {
  const directory = mkdtempSync(join(tmpdir(), 'assembly-'));
  try {
    await synthesize({
      assembly: join(directory, 'assembly'),
      compileCache: join(tmpdir(), 'service-compile-cache'),
      context: { stage: 'prod', mailFrom: MAIL_FROM, dashboardOrigin: DASHBOARD_ORIGIN },
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
  const [keys, secrets] = [count('AWS::KMS::Key'), count('AWS::SecretsManager::Secret')];
  const keyUsers = count('AWS::SQS::Queue') * 2 + count('AWS::DynamoDB::GlobalTable') * READERS_OF_A_TABLE;
  return {
    memory: Object.fromEntries(
      [...functions.values()].map((one) => [one.Environment.Variables.FUNCTION_NAME, one.MemorySize]),
    ),
    schedules: Object.fromEntries(schedules),
    resources: {
      queueRequests: queueSources.length * EMPTY_POLLS_AN_HOUR * HOURS_A_MONTH,
      customMetrics: metricNames().length,
      alarms: count('AWS::CloudWatch::Alarm') + count('AWS::CloudWatch::CompositeAlarm'),
      dashboards: count('AWS::CloudWatch::Dashboard'),
      keys,
      keyRequests: keys === 0 ? 0 : keyUsers * REFRESHES_A_MONTH,
      secrets,
      secretReads: secrets * STANDING_INSTANCES * REFRESHES_A_MONTH,
      webAcls: count('AWS::WAFv2::WebACL'),
      webAclRules: ofType('AWS::WAFv2::WebACL').flatMap(({ Properties }) => Properties.Rules ?? []).length,
    },
  };
}

/** @param expression as EventBridge has it, for example `rate(1 minute)` */
function runsAnHour(expression: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const hours = { minute: 1 / 60, hour: 1, day: 24 }[unit ?? ''];
  if (hours === undefined) throw new Error(`a schedule is of no known form: ${expression}`);
  return 1 / (Number(count) * hours);
}

/** Each name is a billed custom metric as soon as it has a value, with or without alarms. */
function metricNames(): string[] {
  const { METRICS: _, ...names } = metrics;
  return Object.values(names).flatMap((named: unknown) =>
    typeof named === 'string' ? [named] : Object.values(Object(named)).map(String),
  );
}
