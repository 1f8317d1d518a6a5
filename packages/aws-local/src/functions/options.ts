import type { TableKeys } from '../permissions/dynamodb-rules.ts';
import type { Statement } from '../permissions/statements.ts';
import type { SandboxCapacity } from './capacity.ts';
import type { SandboxOptions } from './sandbox.ts';

export interface LocalFunctionOptions {
  name: string;
  /** Root of the unpacked function code. */
  directory: string;
  /** `file.export`, as in the template. */
  handler: string;
  timeoutSeconds: number;
  memoryMiB: number;
  /** The template's variables and those of the local run, such as endpoints and credentials. */
  environment: Record<string, string>;
  /** Concurrent sandboxes; further invocations wait. */
  maxSandboxes: number;
  /** Statements of the function's role. */
  statements: readonly Statement[];
  /** `RecursiveLoop` is `Allow`: the function may process its own messages without limit. */
  allowsLoops?: boolean;
  /** Engine endpoints whose calls are checked against the statements. */
  endpoints?: readonly string[];
  /** By table name. */
  tableKeys?: Readonly<Record<string, TableKeys>>;
  /** Shared by a run's functions, to limit their sandboxes together. */
  capacity?: SandboxCapacity;
  /** Directory for compiled code, which makes cold starts several times faster. */
  compileCache?: string;
  nodeBinary?: string;
  preload?: SandboxOptions['preload'];
  onLog?: (line: string) => void;
  /** As {@link SandboxOptions.onPermission}. */
  onPermission?: SandboxOptions['onPermission'];
  /** If false, calls that the role does not allow are sent, and reported as refused. */
  rolesEnforced?: boolean;
  /** Limits on events in bytes of JSON; Lambda's by default. */
  eventBytes?: number;
  asyncEventBytes?: number;
}
