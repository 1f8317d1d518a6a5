import * as z from 'zod';
import { type Mail, recipientsOf } from './mail.ts';

/** SES's limit on a message. */
const MAX_RECIPIENTS = 50;
/** Of recipients that no message reaches here, so that a failure of SES can be seen. */
const UNAVAILABLE = /@unavailable\.test>?$/;

/** `ada@example.com`, or with a name in front: `Ada <ada@example.com>`. */
const Address = z.string().regex(/^(?:[\x20-\x7e]*<[\x21-\x7e]+@[\x21-\x7e]+>|[\x21-\x7e]+@[\x21-\x7e]+)$/);
const Addresses = z.array(Address).default([]);
const Part = z.object({ Data: z.string() });

const SendEmail = z.object({
  FromEmailAddress: Address,
  Destination: z.object({ ToAddresses: Addresses, CcAddresses: Addresses, BccAddresses: Addresses }),
  ReplyToAddresses: Addresses,
  Content: z.object({
    Simple: z.object({
      Subject: Part,
      Body: z.object({ Text: Part.optional(), Html: Part.optional() }),
    }),
  }),
});

/** What SES makes of a request: a message to send, or an exception by its name. */
export type Judged = { mail: Mail } | { type: string; message: string; status: number };

/**
 * Judges the body of a `SendEmail`; messages are put together from text and HTML here, and from nothing else.
 */
export function judgeSendEmail(body: unknown): Judged {
  const request = SendEmail.safeParse(body);
  if (!request.success) return badRequest(z.prettifyError(request.error));
  const { FromEmailAddress, Destination, ReplyToAddresses, Content } = request.data;
  const { Subject, Body } = Content.Simple;
  const mail = {
    from: FromEmailAddress,
    to: Destination.ToAddresses,
    cc: Destination.CcAddresses,
    bcc: Destination.BccAddresses,
    replyTo: ReplyToAddresses,
    subject: Subject.Data,
    text: Body.Text?.Data ?? '',
    html: Body.Html?.Data ?? '',
  };
  const recipients = recipientsOf(mail);
  if (recipients.length === 0) return badRequest('Missing destination.');
  if (recipients.length > MAX_RECIPIENTS) return badRequest(`Recipient count exceeds ${MAX_RECIPIENTS}.`);
  if (mail.text === '' && mail.html === '') return badRequest('Missing body.');
  if (recipients.every((address) => UNAVAILABLE.test(address)))
    return { type: 'ServiceUnavailable', message: 'Nothing is sent to unavailable.test here', status: 503 };
  return { mail };
}

const badRequest = (message: string): Judged => ({ type: 'BadRequestException', message, status: 400 });
