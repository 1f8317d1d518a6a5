import { lambdaHandler, type ReceivedEvent, VerificationError } from 'conversation-service-sdk/receiver';

/** Answers 204 to a signed event that is saved, for API Gateway, a function URL or a load balancer. */
export const createReceiver = (secrets: readonly string[], save: (event: ReceivedEvent) => Promise<void>) =>
  lambdaHandler(
    {
      secrets,
      onError: (error) =>
        console.error(error instanceof VerificationError ? `Refused: ${error.problem}` : error),
    },
    save,
  );

/** One signing secret, or several separated by spaces while one replaces another. */
export function readSecrets(): string[] {
  const secrets = (process.env.WEBHOOK_SECRET ?? '').split(' ').filter(Boolean);
  if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set.');
  return secrets;
}
