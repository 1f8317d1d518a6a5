import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { queueArn } from '../arns.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import { physicalName } from './physical-name.ts';
import { parseProperties } from './properties.ts';

/** Resolved properties of an `AWS::SQS::Queue`. */
const QueueDefinition = z.object({
  VisibilityTimeout: z.number().default(30),
  DelaySeconds: z.number().default(0),
  MaximumMessageSize: z.number().optional(),
  ReceiveMessageWaitTimeSeconds: z.number().default(0),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() }).optional(),
  ContentBasedDeduplication: z.boolean().optional(),
});

const QueueIdentity = z.object({ QueueName: z.string().optional(), FifoQueue: z.boolean().default(false) });

/**
 * Creates missing queues, updates the attributes of all, and defines them in `references`: the URL as `Ref`,
 * and `Arn`, `QueueName` and `QueueUrl`.
 * @param endpoint where functions reach SQS: base of the queue URLs, regardless of the engine's host
 */
export async function provisionQueues(
  template: Template,
  references: References,
  client: SQSClient,
  endpoint: string,
): Promise<void> {
  const queues = template.ofType('AWS::SQS::Queue');

  // All queues exist before the first redrive policy names one.
  await Promise.all(
    queues.map(async (resource) => {
      const { QueueName, FifoQueue } = parseProperties(
        QueueIdentity,
        resource,
        references,
        pickIdentity(resource),
      );
      const name = physicalName(template, resource, QueueName, FifoQueue ? '.fifo' : '');
      const created = await ensureQueue(client, name, FifoQueue);
      const ref = new URL(new URL(created).pathname, endpoint).href;
      references.define(resource.logicalId, {
        ref,
        attributes: { Arn: queueArn(name), QueueName: name, QueueUrl: ref },
      });
    }),
  );

  await Promise.all(
    queues.map(async (resource) => {
      const definition = parseProperties(QueueDefinition, resource, references);
      const QueueUrl = String(references.resolve({ Ref: resource.logicalId }));
      const Attributes = queueAttributes(definition);
      // Other engines reject an empty policy: it only removes a queue's existing one.
      if (!definition.RedrivePolicy && (await hasRedrivePolicy(client, QueueUrl)))
        Attributes.RedrivePolicy = '';
      await client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    }),
  );
}

/** Creates the queue if it is missing. Returns the engine's URL. */
async function ensureQueue(client: SQSClient, name: string, fifo: boolean): Promise<string> {
  try {
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }));
    return QueueUrl ?? '';
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error;
  }
  const Attributes = fifo ? { FifoQueue: 'true' } : undefined;
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
  return QueueUrl ?? '';
}

async function hasRedrivePolicy(client: SQSClient, QueueUrl: string): Promise<boolean> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['RedrivePolicy'] }),
  );
  return Boolean(Attributes?.RedrivePolicy);
}

/** Properties that name no other queue. */
const pickIdentity = ({ properties: { QueueName, FifoQueue } }: Resource) => ({ QueueName, FifoQueue });

/** Includes defaults, so that an attribute removed from the template is reset. */
function queueAttributes(definition: z.infer<typeof QueueDefinition>): Record<string, string> {
  const { RedrivePolicy, ...others } = definition;
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    ...(RedrivePolicy ? { RedrivePolicy: JSON.stringify(RedrivePolicy) } : {}),
  };
}
