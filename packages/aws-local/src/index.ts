/*
 * API for running an assembly. Single modules such as `aws-local/errors.ts` can be imported without loading
 * an engine.
 */
export { ACCOUNT, PARTITION, REGION } from './arns.ts';
export { type Cloud, type CloudOptions, startCloud } from './cloud.ts';
export { LocalRunError } from './errors.ts';
