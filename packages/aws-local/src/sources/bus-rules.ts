import * as z from 'zod';
import { DEFAULT_BUS } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import { parseProperties } from '../provision/properties.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';
import { compileFilters, type Filter } from './filter.ts';

export interface BusTarget {
  queueArn: string;
  /** Receives what the target queue does not accept. */
  deadLetterArn: string | undefined;
  /** Message group: a constant, or a JSON path into the event. */
  messageGroup: string | undefined;
}

export interface BusRule {
  logicalId: string;
  arn: string;
  bus: string;
  matches: Filter;
  targets: BusTarget[];
}

const Rule = z.object({
  EventBusName: z.string().default(DEFAULT_BUS),
  EventPattern: z.record(z.string(), z.unknown()),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Targets: z
    .array(
      z.object({
        Id: z.string(),
        Arn: z.string(),
        DeadLetterConfig: z.object({ Arn: z.string() }).optional(),
        SqsParameters: z.object({ MessageGroupId: z.string() }).optional(),
      }),
    )
    .default([]),
});

/**
 * The template's enabled rules with an event pattern.
 * @throws LocalRunError for a target that is not a queue, and for an unsupported pattern
 */
export function busRules(template: Template, references: References): BusRule[] {
  return template
    .ofType('AWS::Events::Rule')
    .filter(({ properties }) => properties.EventPattern !== undefined)
    .flatMap((resource) => {
      const { EventBusName, EventPattern, State, Targets } = parseProperties(Rule, resource, references);
      if (State === 'DISABLED') return [];
      const { logicalId } = resource;
      return {
        logicalId,
        arn: String(references.resolve({ 'Fn::GetAtt': [logicalId, 'Arn'] })),
        // A bus may be named by its ARN.
        bus: EventBusName.slice(EventBusName.lastIndexOf('/') + 1),
        matches: compileFilters([JSON.stringify(EventPattern)]),
        targets: Targets.map(({ Id, Arn, DeadLetterConfig, SqsParameters }) => {
          if (!Arn.includes(':sqs:'))
            throw new LocalRunError(
              `${logicalId}: the local run does not know the target ${Id} of a rule with a pattern, which is not a queue: ${Arn}`,
            );
          return {
            queueArn: Arn,
            deadLetterArn: DeadLetterConfig?.Arn,
            messageGroup: SqsParameters?.MessageGroupId,
          };
        }),
      };
    });
}
