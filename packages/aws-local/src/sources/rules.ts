import * as z from 'zod';
import { DEFAULT_BUS, ruleArn } from '../arns.ts';
import type { InvocationResult } from '../functions/sandbox.ts';
import { physicalName } from '../provision/physical-name.ts';
import { parseProperties } from '../provision/properties.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import { ratePeriod, scheduledEvent, startSchedule } from './schedule.ts';
import type { Source } from './source.ts';

const Rule = z.object({
  ScheduleExpression: z.string(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Targets: z.array(z.object({ Arn: z.string(), Input: z.string().optional() })).default([]),
});

const Identity = z.object({ Name: z.string().optional(), EventBusName: z.string().default(DEFAULT_BUS) });

/** Properties without targets, which may be undefined yet. */
const pickIdentity = ({ properties: { Name, EventBusName } }: Resource) => ({ Name, EventBusName });

/** Defines the template's rules; the buses must be defined. */
export function defineRules(template: Template, references: References): void {
  for (const resource of template.ofType('AWS::Events::Rule')) {
    const { Name, EventBusName: bus } = parseProperties(
      Identity,
      resource,
      references,
      pickIdentity(resource),
    );
    const name = physicalName(template, resource, Name);
    references.define(resource.logicalId, {
      ref: bus === DEFAULT_BUS ? name : `${bus}|${name}`,
      attributes: { Arn: ruleArn(bus, name) },
    });
  }
}

/**
 * Starts the template's enabled rules with a schedule.
 * @throws LocalRunError for an unsupported schedule
 */
export function startRules(
  template: Template,
  references: References,
  functionOf: (arn: string) => { invokeAsync: (event: unknown) => Promise<InvocationResult> },
  log: (line: { source: string; text: string }) => void,
): Source[] {
  const scheduled = template
    .ofType('AWS::Events::Rule')
    .filter(({ properties }) => properties.ScheduleExpression !== undefined);
  return scheduled.flatMap((resource) => {
    const { ScheduleExpression, State, Targets } = parseProperties(Rule, resource, references);
    if (State === 'DISABLED') return [];
    const periodMs = ratePeriod(ScheduleExpression);
    const ruleArn = String(references.resolve({ 'Fn::GetAtt': [resource.logicalId, 'Arn'] }));
    return Targets.map(({ Arn, Input }) => {
      const target = functionOf(Arn);
      return startSchedule({
        periodMs,
        event: (now) => (Input === undefined ? scheduledEvent(ruleArn, now) : JSON.parse(Input)),
        invoke: (event) => target.invokeAsync(event),
        log: (text) => log({ source: resource.logicalId, text }),
      });
    });
  });
}
