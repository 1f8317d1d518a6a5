/*
 * The meaning of the fields that all events, and all errors, have.
 */

export const ENVELOPE_FIELDS = {
  type: 'Type of the event. Handle the types you know and answer 2xx to others: types are added without notice.',
  schemaVersion: 'Version of the shape of `data`. A change of the shape has a new version.',
  orgId: 'The organization it happened in.',
  createdAt: 'When it happened, UTC.',
  data: 'What happened: these fields and no others.',
};

export const ERROR_FIELDS = {
  type: 'What went wrong, for programs. New types may be added: treat an unknown one by its status.',
  message: 'What went wrong, for people: names the field and the constraint. Its wording may change.',
  requestId: 'Names the request; the same as the `Request-Id` header. Quote it to support.',
};
