import * as z from 'zod';
import { type Mail, recipientsOf } from './mail.ts';

/** SES's limit on a message. */
const MAX_RECIPIENTS = 50;
/** Recipients that always fail, to simulate a failure of SES. */
const UNAVAILABLE = /@unavailable\.test>?$/;

/** `ada@example.com`, or with a name: `Ada <ada@example.com>`. */
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

/** A message to send, or an SES exception. */
export type Judged = { mail: Mail } | { type: string; message: string; status: number };

/** Parses and validates the body of a `SendEmail`; supports only simple messages of text and HTML. */
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
