import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import * as metrics from '../../../functions/aws/metrics.ts';
import { LANES } from '../../../functions/delivery/lanes.ts';
import type { Measured } from '../../../lib/cost/measured.ts';

const Resource = z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) });
type Resource = z.output<typeof Resource>;

const MappingProperties = z.object({
  BatchSize: z.number().default(10),
  MaximumBatchingWindowInSeconds: z.number().default(0),
  EventSourceArn: z.unknown(),
  FunctionName: z.unknown(),
});
const FunctionProperties = z.object({
  MemorySize: z.number().default(128),
  Environment: z.object({ Variables: z.object({ FUNCTION_NAME: z.string() }) }),
});

/** The billed resources in the templates of an assembly. */
export function templateFacts(assembly: string): Measured['template'] {
  const resources = new Map(
    readdirSync(assembly)
      .filter((name) => name.endsWith('.template.json'))
      .flatMap((name) => Object.entries(JSON.parse(readFileSync(join(assembly, name), 'utf8')).Resources))
      .map(([id, resource]) => [id, Resource.parse(resource)]),
  );
  const ofType = (type: string): Resource[] => [...resources.values()].filter(({ Type }) => Type === type);
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

  const mappings = ofType('AWS::Lambda::EventSourceMapping').map(({ Properties }) => {
    const mapping = MappingProperties.parse(Properties);
    const source = JSON.stringify(mapping.EventSourceArn);
    const lane = LANES.find((name) => new RegExp(`Lanes${name}|Delivery${name}`, 'i').test(source));
    return {
      function: functionIn(mapping.FunctionName) ?? 'unknown',
      source: /StreamArn/.test(source) ? ('stream' as const) : ('queue' as const),
      ...(lane === undefined ? {} : { lane }),
      batchSize: mapping.BatchSize,
      windowSeconds: mapping.MaximumBatchingWindowInSeconds,
    };
  });
  const schedules = ofType('AWS::Events::Rule').flatMap(({ Properties }) => {
    const { ScheduleExpression, Targets } = Properties;
    const name = functionIn(Targets ?? []);
    if (ScheduleExpression === undefined || name === undefined) return [];
    return [[name, runsAnHour(String(ScheduleExpression))] as const];
  });
  const retentions = ofType('AWS::Logs::LogGroup').map(({ Properties }) =>
    Number(Properties.RetentionInDays ?? 0),
  );
  return {
    memory: Object.fromEntries(
      [...functions.values()].map((one) => [one.Environment.Variables.FUNCTION_NAME, one.MemorySize]),
    ),
    mappings,
    schedules: Object.fromEntries(schedules),
    queues: ofType('AWS::SQS::Queue').length,
    tables: ofType('AWS::DynamoDB::Table').length,
    alarms: ofType('AWS::CloudWatch::Alarm').length + ofType('AWS::CloudWatch::CompositeAlarm').length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    customMetrics: metricNames().length,
    secrets: ofType('AWS::SecretsManager::Secret').length,
    keys: ofType('AWS::KMS::Key').length,
    webAcls: ofType('AWS::WAFv2::WebACL').length,
    webAclRules: ofType('AWS::WAFv2::WebACL').flatMap(({ Properties }) => Properties.Rules ?? []).length,
    logRetentionDays: Math.max(...retentions),
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
