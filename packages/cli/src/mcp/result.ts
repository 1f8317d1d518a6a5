import type { CallToolResult } from '@modelcontextprotocol/server';
import { reportedError } from '../report.ts';
import { UNTRUSTED_NOTICE } from './untrusted.ts';

/** A result as JSON, behind the notice about texts from outside. */
export const toResult = (value: object): CallToolResult => ({
  content: [
    { type: 'text', text: UNTRUSTED_NOTICE },
    { type: 'text', text: JSON.stringify(value, null, 2) },
  ],
});

/** Errors are results of the tool, with their type and request, so that an assistant can act on them. */
export async function answer(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    return toResult(await work());
  } catch (error) {
    return toErrorResult(error);
  }
}

export const toErrorResult = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error: reportedError(error) }) }],
});
