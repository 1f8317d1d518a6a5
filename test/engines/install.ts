import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type EngineName, VERSIONS } from './names.ts';
import { isInstalled, ProgramError, runProgram } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Not versioned. A directory in it is complete, since it gets its name at the end of the installation. */
const CACHE = join(ROOT, '.engines');

/** A tool that installs or runs an engine is missing on this machine. */
export class MissingToolError extends Error {
  override name = 'MissingToolError';
}

/**
 * Downloads an engine unless an earlier run did.
 * @returns its directory
 * @param onLine called with the installing program's output
 * @throws ProgramError when the download fails
 */
export async function install(engine: EngineName, onLine: (line: string) => void): Promise<string> {
  const directory = getDirectory(engine);
  if (existsSync(directory)) return directory;
  const partial = `${directory}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  const { command, args } = installation(engine, partial);
  const { code, printed } = await runProgram(command, args, { cwd: ROOT, onLine });
  if (code !== 0) throw new ProgramError(`${command} could not install ${engine}:\n${printed}`);
  await rename(partial, directory);
  return directory;
}

const getDirectory = (engine: EngineName): string => join(CACHE, `${engine}-${VERSIONS[engine]}`);

/** @throws MissingToolError when this machine has no program that can install or run the engine */
export async function requireTools(engine: EngineName): Promise<void> {
  // DynamoDB Local needs the compiler too: its launcher is a source file.
  const toRun = { 'dynamodb-local': ['java', 'javac'], elasticmq: ['java'], dynoxide: [] }[engine];
  const toInstall = engine === 'dynoxide' ? 'cargo' : 'mvn';
  const tools = [...toRun, ...(existsSync(getDirectory(engine)) ? [] : [toInstall])];
  const installed = await Promise.all(tools.map((tool) => isInstalled(tool)));
  const missing = tools.filter((_, index) => !installed[index]);
  if (missing.length > 0)
    throw new MissingToolError(`${engine} needs ${missing.join(' and ')}, which this machine does not have`);
}

function installation(engine: EngineName, directory: string): { command: string; args: string[] } {
  if (engine === 'dynoxide') {
    const features = ['--no-default-features', '--features', 'native-sqlite,http-server,cli'];
    const crate = ['dynoxide-rs', '--version', VERSIONS.dynoxide, '--locked'];
    return { command: 'cargo', args: ['install', ...crate, ...features, '--root', directory] };
  }
  const pom = join(import.meta.dirname, 'maven', `${engine}.xml`);
  const output = `-DoutputDirectory=${directory}`;
  return { command: 'mvn', args: ['-B', '-f', pom, 'dependency:copy-dependencies', output] };
}
