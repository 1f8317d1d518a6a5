import { startSecrets } from './engines/secrets.ts';
import { type RunningIdentity, startIdentity } from './identity/identity.ts';
import { startMailService } from './mail/mail-service.ts';
import { type Mailbox, openMailbox } from './mail/mailbox.ts';
import { queueAccess } from './permissions/queue-access.ts';
import {
  provisionEventBuses,
  provisionSecrets,
  provisionUserPool,
  userPoolOf,
} from './provision/provision.ts';
import type { Endpoints } from './service-environment.ts';
import { startBus } from './sources/bus.ts';
import { busRules } from './sources/bus-rules.ts';
import type { Queues } from './sources/queues.ts';
import { defineRules } from './sources/rules.ts';
import type { References } from './template/references.ts';
import type { Template } from './template/template.ts';

export interface ServiceParts {
  directory: string;
  /** Parent of the mailbox. */
  mailDirectory: string;
  queues: Queues;
  queueUrlOf: (arn: string) => string;
  log: (line: { source: string; text: string }) => void;
}

/** Services other than DynamoDB and SQS; they need no engine. */
export interface Services {
  endpoints: Omit<Endpoints, 'dynamodb' | 'sqs' | 'sns' | 'lambda'>;
  /** Replaces the template's user pool; absent when it has none. */
  identity?: RunningIdentity;
  mailbox: Mailbox;
}

/**
 * Starts the services and defines the template's parts of them in `references`; `started` stops them.
 * @param references define the functions, because rules may name them
 * @throws LocalRunError for unsupported parts of secrets, user pool or rules
 */
export async function startServices(
  template: Template,
  references: References,
  { directory, mailDirectory, queues, queueUrlOf, log }: ServiceParts,
  started: AsyncDisposableStack,
): Promise<Services> {
  const secrets = await startSecrets({ directory, secrets: provisionSecrets(template, references) });
  started.defer(() => secrets.stop());
  const mailbox = openMailbox(mailDirectory);
  const mail = await startMailService(mailbox);
  started.defer(() => mail.stop());
  const identity = await startUserPool(template, references, directory, log);
  if (identity) started.defer(() => identity.stop());
  const buses = provisionEventBuses(template, references);
  defineRules(template, references);
  const rules = busRules(template, references);
  const refusalOfQueue = queueAccess(template, references);
  const bus = await startBus({ queues, buses, rules, queueUrlOf, refusalOfQueue, log });
  started.defer(() => bus.stop());
  return {
    endpoints: {
      secretsManager: secrets.endpoint,
      ses: mail.endpoint,
      eventBridge: bus.endpoint,
      ...(identity && { cognito: identity.userDirectory }),
    },
    ...(identity && { identity }),
    mailbox,
  };
}

/** Starts and defines the template's user pool, if any. */
async function startUserPool(
  template: Template,
  references: References,
  directory: string,
  log: ServiceParts['log'],
): Promise<RunningIdentity | undefined> {
  const pool = userPoolOf(template);
  if (!pool) return undefined;
  return startIdentity({
    directory,
    define: (issuer) => provisionUserPool(template, pool, references, issuer),
    onLog: (text) => log({ source: 'identity', text }),
  });
}
