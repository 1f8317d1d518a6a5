/**
 * Error types that no request can cause at will: a defect, a dependency that is down, and a race. The tests
 * over HTTP leave them to those that inject faults between a function and its tables; each of the two checks
 * that no type is left out.
 */
export const PROVOKED_WITH_FAULTS: readonly string[] = ['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'CONFLICT'];
