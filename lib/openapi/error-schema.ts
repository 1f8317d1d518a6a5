import type { ProblemType } from '../../functions/domain/problem.ts';
import { ERROR_FIELDS } from './fields.ts';
import type { Schema } from './openapi.ts';

const field = (name: keyof typeof ERROR_FIELDS): Schema => ({
  type: 'string',
  description: ERROR_FIELDS[name],
});

/** The error envelope (docs/specification.md, Error envelope) with one of these types. */
export const errorSchema = (types: readonly ProblemType[]): Schema => ({
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        type: { ...field('type'), enum: [...types] },
        message: field('message'),
        requestId: field('requestId'),
      },
      required: ['type', 'message', 'requestId'],
    },
  },
  required: ['error'],
});
