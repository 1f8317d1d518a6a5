/** Why attempts fail, as the service words it; what stands in brackets is part of the translation. */
const PATTERNS = {
  answered: /^the receiver answered (\d+)$/,
  timedOut: /^timed out after ([\d.]+) s$/,
  refused: /^connection refused$/,
  closed: /^connection closed before the response$/,
  unreachable: /^connection timed out$/,
  unresolved: /^the host name was not resolved$/,
  failed: /^connection failed(?: \((\w+)\))?$/,
} as const;
export type ErrorKind = keyof typeof PATTERNS;

/** Which of the known errors a text is, with the part that differs. */
export function parseError(text: string): { kind: ErrorKind; detail: string } | undefined {
  for (const [kind, pattern] of Object.entries(PATTERNS)) {
    const match = pattern.exec(text);
    if (match) return { kind: kind as ErrorKind, detail: match[1] ?? '' };
  }
  return undefined;
}
