/** An e-mail in a request to SES. */
export interface Mail {
  from: string;
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo: string[];
  subject: string;
  /** Empty if absent; at least one of the two is not. */
  text: string;
  html: string;
}

export interface SentMail extends Mail {
  id: string;
  at: Date;
}

export const recipientsOf = ({ to, cc, bcc }: Mail): string[] => [...to, ...cc, ...bcc];
