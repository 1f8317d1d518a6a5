/*
 * What a program needs to run an assembly. A single file of the package can be imported as well
 * (`aws-local/errors.ts`), which loads no engine.
 */
export { ACCOUNT, PARTITION, REGION } from './arns.ts';
export { type Cloud, type CloudOptions, startCloud } from './cloud.ts';
export { LocalRunError } from './errors.ts';
