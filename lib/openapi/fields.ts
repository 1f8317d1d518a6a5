/*
 * The meaning of the fields that all events, and all errors, have.
 */

export const ENVELOPE_FIELDS = {
  type: 'Event type. Types are added without notice: respond with 2xx to unknown ones.',
  schemaVersion: 'Version of the structure of `data`.',
  orgId: 'The organization.',
  createdAt: 'Time of the event, UTC.',
  data: 'Data of the event: these fields and no others.',
};

export const ERROR_FIELDS = {
  type: 'Error type, for programs. Types may be added: handle unknown ones by status.',
  message: 'Error message, for users. Names the field and the constraint. The wording may change.',
  requestId: 'Identifier of the request, equal to the `Request-Id` header. Quote it to support.',
  details: 'The invalid parts of the request, of a `VALIDATION_ERROR`; absent where there are none to name.',
};

export const DETAIL_FIELDS = {
  field: 'Path of the field in the body, with dots, or name of the parameter or header.',
  code: 'What is wrong, for programs. Codes may be added: handle unknown ones by `message`.',
  message: 'The constraint that it does not meet. The wording may change.',
  limit: 'The bound that the value exceeds, with the codes that begin with `too_`.',
};
