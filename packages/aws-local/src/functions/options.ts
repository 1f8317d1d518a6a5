import type { TableKeys } from '../permissions/dynamodb-rules.ts';
import type { Statement } from '../permissions/statements.ts';
import type { SandboxCapacity } from './capacity.ts';
import type { FaultPlan } from './sandbox/faults.ts';
import type { SandboxOptions } from './sandbox.ts';

export interface LocalFunctionOptions {
  name: string;
  /** Root of the unpacked function code. */
  directory: string;
  /** As in the template: `file.export`. */
  handler: string;
  timeoutSeconds: number;
  memoryMiB: number;
  /**
   * The template's variables and those of the local run, such as endpoints and credentials.
   */
  environment: Record<string, string>;
  /** Sandboxes that may run side by side; further invocations wait. */
  maxSandboxes: number;
  /** What the function's role allows. */
  statements: readonly Statement[];
  /** `RecursiveLoop` is `Allow`: messages of the function may come back to it without end. */
  allowsLoops?: boolean;
  /** Endpoints of the engines, whose calls are checked against the statements. */
  endpoints?: readonly string[];
  /** Of the template's tables, by their names. */
  tableKeys?: Readonly<Record<string, TableKeys>>;
  /** Shared by the functions of a run, to bound their sandboxes together. */
  capacity?: SandboxCapacity;
  /** Directory for compiled code, which makes later cold starts several times faster. */
  compileCache?: string;
  nodeBinary?: string;
  preload?: SandboxOptions['preload'];
  onLog?: (line: string) => void;
  /** As {@link SandboxOptions.onPermission}. */
  onPermission?: SandboxOptions['onPermission'];
  /** Sends calls that the role does not allow when false. They are reported as refused all the same. */
  rolesEnforced?: boolean;
  /** Of its requests, in each of its processes. */
  faults?: FaultPlan;
  /** As {@link SandboxOptions.onFault}. */
  onFault?: SandboxOptions['onFault'];
  /** Limits on events, in bytes of JSON; Lambda's where they are not said. */
  eventBytes?: number;
  asyncEventBytes?: number;
}
