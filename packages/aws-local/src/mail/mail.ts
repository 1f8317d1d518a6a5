/** An e-mail as SES was asked to send it. */
export interface Mail {
  from: string;
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo: string[];
  subject: string;
  /** Empty where it has none; one of the two has something in it. */
  text: string;
  html: string;
}

/** One that was sent. */
export interface SentMail extends Mail {
  id: string;
  at: Date;
}

/** Everybody whom it goes to. */
export const recipientsOf = ({ to, cc, bcc }: Mail): string[] => [...to, ...cc, ...bcc];
