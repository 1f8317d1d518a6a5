/** A part of a text. */
export interface Segment {
  text: string;
  isMatch: boolean;
}

export const MAX_MATCHES = 1000;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Divides a text into what matches what is looked for, in upper or lower case, and what is between. */
export function segmentsOf(text: string, wanted: string): Segment[] {
  if (wanted === '') return [{ text, isMatch: false }];
  const segments: Segment[] = [];
  let end = 0;
  let matches = 0;
  for (const { 0: match, index } of text.matchAll(new RegExp(escaped(wanted), 'giu'))) {
    if (index > end) segments.push({ text: text.slice(end, index), isMatch: false });
    segments.push({ text: match, isMatch: true });
    end = index + match.length;
    matches += 1;
    if (matches === MAX_MATCHES) break;
  }
  if (end < text.length) segments.push({ text: text.slice(end), isMatch: false });
  return segments;
}
