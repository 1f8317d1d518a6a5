export type { EventPayload, EventType, ReceivedEvent } from './events.ts';
export * from './handler.ts';
export type { IncomingRequest, LambdaRequest, NodeRequest } from './request.ts';
export { VerificationError, type VerificationProblem } from './verification-error.ts';
export { type Secrets, type VerifyOptions, verify } from './verify.ts';
