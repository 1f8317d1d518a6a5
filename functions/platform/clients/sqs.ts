import { SQSClient } from '@aws-sdk/client-sqs';
import { prepared } from './prepared.ts';
import { terms } from './terms.ts';

export const queueClient = (): SQSClient => prepared(new SQSClient(terms()), 'sqs');

/** Made when it is first used, for whom most execution environments send nothing: a client takes a millisecond to make. */
export function queueClientWhenUsed(): Pick<SQSClient, 'send'> {
  let client: SQSClient | undefined;
  const send = (...args: Parameters<SQSClient['send']>) => {
    client ??= queueClient();
    return client.send(...args);
  };
  return { send: send as SQSClient['send'] };
}
