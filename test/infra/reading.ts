import type { Template } from 'aws-cdk-lib/assertions';
import { expect } from 'vitest';
import { ofType, type SynthesizedResource } from './synthesize.ts';

export type Found = [id: string, resource: SynthesizedResource];
/** All resources of a type, of which there is at least one. */
export const all = (template: Template, type: string): Found[] => {
  const matching = ofType(template, type);
  // An empty list would pass any check.
  expect(matching.length, type).toBeGreaterThan(0);
  return matching;
};

/** All resources of a template, by logical id. */
export const resourcesOf = (template: Template): Map<string, SynthesizedResource> =>
  new Map(Object.entries(template.toJSON().Resources));

/** Logical ids that a value refers to, by `Ref` or by an attribute, at any depth. */
export function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, part]) => {
    if (key === 'Ref' && typeof part === 'string') return [part];
    if (key === 'Fn::GetAtt' && Array.isArray(part)) return [String(part[0])];
    return references(part);
  });
}

/**
 * The service's functions, without those of the CDK's custom resources, which run only during a deployment.
 */
export function ourFunctions(template: Template): Found[] {
  const deployers = new Set(
    [...resourcesOf(template).values()]
      .filter(({ Type }) => Type.startsWith('Custom::'))
      .flatMap(({ Properties }) => references(Properties.ServiceToken)),
  );
  return all(template, 'AWS::Lambda::Function').filter(([id]) => !deployers.has(id));
}

/** Variables of every function, in their order: what it logs and measures. */
export const TELEMETRY = ['FUNCTION_NAME', 'LOG_LEVEL', 'METRICS_NAMESPACE'];

/** The name of a route or worker that a function serves. */
export const nameOf = ({ Properties }: SynthesizedResource): string =>
  Object(Properties.Environment).Variables.FUNCTION_NAME;

/** An alarm's metric, or those of its expression. */
export interface Watched {
  metric: string;
  namespace: string;
  /** By dimension. */
  of: Record<string, unknown>;
}

export function watchedBy({ Properties }: SynthesizedResource): Watched[] {
  const metrics = Properties.Metrics as { MetricStat?: { Metric: unknown } }[] | undefined;
  const stats = metrics?.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : [])) ?? [Properties];
  return stats.map((stat) => {
    const { MetricName, Namespace, Dimensions = [] } = Object(stat);
    return {
      metric: MetricName,
      namespace: Namespace,
      of: Object.fromEntries(
        Dimensions.map(({ Name, Value }: { Name: string; Value: unknown }) => [Name, Value]),
      ),
    };
  });
}

/** Whether an alarm uses this metric of this resource. */
export const isWatched = (template: Template, metric: string, logicalId: string): boolean =>
  ofType(template, 'AWS::CloudWatch::Alarm').some(([, alarm]) =>
    watchedBy(alarm).some(
      (watched) => watched.metric === metric && references(watched.of).includes(logicalId),
    ),
  );

/** A statement of a policy, with lists for single values. */
export interface PolicyStatement {
  effect: string;
  actions: string[];
  resources: unknown[];
  condition: Record<string, unknown>;
  principal: unknown;
}

const listOf = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat());

export const statementsIn = (document: unknown): PolicyStatement[] =>
  listOf(Object(document).Statement).map((statement) => {
    const { Effect, Action, Resource, Condition = {}, Principal } = Object(statement);
    return {
      effect: Effect,
      actions: listOf(Action).map(String),
      resources: listOf(Resource),
      condition: Condition,
      principal: Principal,
    };
  });
