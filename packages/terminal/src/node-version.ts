const REQUIRED_MAJOR = 24;

/**
 * Why this Node.js cannot run the project; undefined if it can.
 * @param version `process.versions.node`, such as `24.21.0`
 */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number.parseInt(version, 10);
  return major >= REQUIRED_MAJOR
    ? undefined
    : `Node.js ${REQUIRED_MAJOR} or newer is needed, and this is ${version}: install it, or run through npm after \`npm ci\`.`;
}
