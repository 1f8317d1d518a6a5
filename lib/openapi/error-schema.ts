import { PROBLEM_STATUS } from '../../functions/http/problem.ts';
import { DETAIL_FIELDS, ERROR_FIELDS } from './fields.ts';
import { type Ref, SCHEMAS, type Schema } from './openapi.ts';
import { FIELD_ERROR_TEXTS } from './problems.ts';

const text = (description: string): Schema => ({ type: 'string', description });

/** Refers to the body of every error. */
export const ERROR_REF: Ref = { $ref: `${SCHEMAS}ErrorResponse` };

/**
 * The error envelope (docs/specification.md, Error envelope): one schema for all statuses, so that clients
 * handle errors in one place. `type` is no closed enumeration: clients must be able to read later types.
 */
export const ERROR_SCHEMAS: Readonly<Record<string, Schema>> = {
  ErrorResponse: {
    type: 'object',
    properties: { error: { $ref: `${SCHEMAS}ApiError` } },
    required: ['error'],
  },
  ApiError: {
    type: 'object',
    properties: {
      type: { ...text(ERROR_FIELDS.type), 'x-extensible-enum': Object.keys(PROBLEM_STATUS) },
      message: text(ERROR_FIELDS.message),
      requestId: text(ERROR_FIELDS.requestId),
      details: {
        type: 'array',
        items: { $ref: `${SCHEMAS}ErrorDetail` },
        description: ERROR_FIELDS.details,
      },
    },
    required: ['type', 'message', 'requestId'],
  },
  ErrorDetail: {
    type: 'object',
    properties: {
      field: text(DETAIL_FIELDS.field),
      code: { ...text(DETAIL_FIELDS.code), 'x-extensible-enum': Object.keys(FIELD_ERROR_TEXTS) },
      message: text(DETAIL_FIELDS.message),
      limit: { type: 'number', description: DETAIL_FIELDS.limit },
    },
    required: ['field', 'code', 'message'],
  },
};
