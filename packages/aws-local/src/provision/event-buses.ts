import * as z from 'zod';
import { busArn, DEFAULT_BUS } from '../arns.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';
import { parseProperties } from './properties.ts';

const EventBus = z.object({ Name: z.string() });

/**
 * Defines the template's buses in `references`.
 * @returns names of the default bus and the template's
 */
export function provisionEventBuses(template: Template, references: References): string[] {
  const names = template.ofType('AWS::Events::EventBus').map((resource) => {
    const { Name } = parseProperties(EventBus, resource, references);
    references.define(resource.logicalId, { ref: Name, attributes: { Name, Arn: busArn(Name) } });
    return Name;
  });
  return [DEFAULT_BUS, ...names];
}
