import { type SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { type Permit, requirePermit } from '../tenancy/gate.ts';
import type { Mail, MailResult } from './mail.ts';

/**
 * Sends e-mail through SES, with a permit of the gate.
 * @param from address verified in SES, or of a verified domain
 */
export function mailer(client: SESv2Client, from: string) {
  return {
    /**
     * Sends once, and never rejects for failures of SES or the network.
     * @throws NotPermitted without a permit of the gate
     */
    async send({ to, subject, text, html }: Mail, permit: Permit): Promise<MailResult> {
      requirePermit(permit);
      try {
        await client.send(
          new SendEmailCommand({
            FromEmailAddress: from,
            Destination: { ToAddresses: [...to] },
            Content: {
              Simple: {
                Subject: toUtf8Content(subject),
                Body: { Text: toUtf8Content(text), Html: toUtf8Content(html) },
                // Suppresses automatic replies (RFC 3834, section 5).
                Headers: [{ Name: 'Auto-Submitted', Value: 'auto-generated' }],
              },
            },
          }),
        );
        return { kind: 'sent' };
      } catch (error) {
        return { kind: isRefusal(error) ? 'refused' : 'unknown', reason: getReason(error) };
      }
    },
  };
}

const toUtf8Content = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** Error codes from before a connection exists: nothing was sent. */
const UNSENT_CODES = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether SES certainly did not take the e-mail. */
function isRefusal(error: unknown): boolean {
  const { name, code, message, $metadata } = Object(error) as Record<string, unknown>;
  if (Number(Object($metadata).httpStatusCode) >= 400) return true;
  if (name === 'CredentialsProviderError' || UNSENT_CODES.has(String(code))) return true;
  // The handler gives its two time-outs one name; that of a request has a code.
  return (
    name === 'TimeoutError' &&
    code === undefined &&
    String(message).includes('did not establish a connection')
  );
}

/** SES's messages contain addresses, which are not logged. */
function getReason(error: unknown): string {
  const { name, code, $metadata } = Object(error) as Record<string, unknown>;
  return [name, code, Object($metadata).httpStatusCode].filter((part) => part !== undefined).join(' ');
}
