/**
 * Error types that no request provokes at will: a defect, a dependency that is down, and a race. The tests
 * over HTTP leave them to those which put faults between a function and its tables; each of the two looks
 * that nothing is left out.
 */
export const PROVOKED_WITH_FAULTS: readonly string[] = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'CONFLICT'];
