import * as z from 'zod';
import { REGION } from '../arns.ts';
import type { SnsStore } from '../engines/fauxqs.ts';
import type { References } from '../template/references.ts';
import type { Template } from '../template/template.ts';
import { parseProperties } from './properties.ts';

const Subscription = z.object({ TopicArn: z.string(), Protocol: z.string(), Endpoint: z.string() });

/** Creates the template's topics and subscriptions, which are confirmed: no e-mail here asks for it. */
export function provisionTopics(template: Template, references: References, store: SnsStore): void {
  for (const { logicalId } of template.ofType('AWS::SNS::Topic'))
    store.createTopic(logicalId, undefined, undefined, REGION);
  for (const resource of template.ofType('AWS::SNS::Subscription')) {
    const { TopicArn, Protocol, Endpoint } = parseProperties(Subscription, resource, references);
    const subscription = store.subscribe(TopicArn, Protocol, Endpoint);
    if (subscription) subscription.confirmed = true;
  }
}
