import { harmless } from 'terminal/format.ts';
import type { Paint } from 'terminal/paint.ts';

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MAX_LINES = 60;
const MAX_TEXT = 2000;

/** Renders a body: JSON indented and colored, anything else as text. Marks truncated ones. */
export function renderBody(body: Buffer, paint: Paint): string {
  const text = body.toString('utf8');
  const value = parse(text);
  if (value === undefined) {
    return text.length > MAX_TEXT ? `${harmless(text.slice(0, MAX_TEXT))}…` : harmless(text);
  }
  const lines = harmless(JSON.stringify(value, null, 2)).split('\n');
  const shown = lines.slice(0, MAX_LINES).join('\n').replaceAll(TOKEN, colour(paint));
  return lines.length <= MAX_LINES
    ? shown
    : `${shown}\n${paint('dim', `… ${lines.length - MAX_LINES} more lines`)}`;
}

function colour(paint: Paint): (token: string, text?: string, colon?: string) => string {
  return (token, text, colon) => {
    if (text === undefined) return paint('yellow', token);
    return colon === undefined ? paint('green', text) : paint('cyan', text) + colon;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
