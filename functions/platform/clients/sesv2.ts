import { SESv2Client } from '@aws-sdk/client-sesv2';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { terms } from './terms.ts';
import { countThrottles } from './throttles.ts';

/**
 * Sends each request once, on a connection of its own: what may have reached SES must not be repeated by itself, and a connection that SES
 * closed while the function was frozen would look like a request that may have. SES has more time than others to answer, since without an answer nobody
 * knows what became of the e-mail.
 */
export const mailClient = (): SESv2Client =>
  countThrottles(
    new SESv2Client({
      ...terms(),
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler({
        connectionTimeout: 1_000,
        requestTimeout: 8_000,
        throwOnRequestTimeout: true,
        httpAgent: { keepAlive: false },
        httpsAgent: { keepAlive: false },
      }),
    }),
    'ses',
  );
