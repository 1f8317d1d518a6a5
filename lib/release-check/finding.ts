/** Deploying the release after the earlier one, and deploying the earlier one after it. */
export type Direction = 'deploy' | 'roll back';

/** An error is refused by AWS, or leaves data of the earlier release behind. */
type Level = 'error' | 'warning' | 'accepted';

export interface Finding {
  rule: Rule;
  level: Level;
  direction: Direction;
  /** Logical ids, names of exports, paths or limits. */
  resources: string[];
  /** Says what to do. */
  message: string;
}

/** Hits of a rule that differ in the resource and its note alone make one finding. */
export interface Hit {
  rule: Rule;
  /** Path of the stack. */
  stack: string;
  resource: string;
  /** Follows the resource in brackets. */
  note?: string;
  /** Default: an error. */
  level?: Level;
  detail?: string;
}

/** The sentence of each rule. */
const SENTENCES = {
  'export-in-use': (names, stack, importers) =>
    `${stack} removes or changes exports that ${importers} imports, so AWS refuses its update: ${names}. Keep them for one release (exportValue), and remove them in the next.`,
  'name-taken': (names, stack, holder) =>
    `AWS creates before it deletes, so it refuses in ${stack} what only one resource may have, and ${holder === stack ? 'the old one' : holder} still has: ${names}. Keep the logical id (overrideLogicalId) and the property, change the name, or remove the old one in a release of its own first.`,
  'path-variable': (names) =>
    `API Gateway allows one variable part below a path, and the document has: ${names}. Give both one name.`,
  'type-changed': (names, stack) =>
    `AWS refuses to change the type of a resource of ${stack}: ${names}. Give the new resource another logical id.`,
  'data-replaced': (names, stack, fate) =>
    `AWS replaces in ${stack} what holds data by an empty one and ${fate}: ${names}. Leave the property as it is, or add a second resource and copy the data before the first goes.`,
  'data-left': (names, stack) =>
    `These leave ${stack}, stay in the account with their data, and would be created again empty: ${names}. Keep them in the template, or copy or drain their data first. To have them back, import them ("cdk import") instead of deploying.`,
  'data-deleted': (names, stack) =>
    `AWS deletes from ${stack}, with what they hold: ${names}. Copy or drain them first.`,
  'retained-name': (names, stack) =>
    `These leave ${stack} and stay in the account, so AWS refuses to create them again under their explicit name: ${names}. Leave the name to CloudFormation, or delete them by hand before.`,
  'index-count': (names) =>
    `DynamoDB creates or deletes one global index of a table in an update: ${names}. Release the changes one by one.`,
  'index-changed': (names) =>
    `DynamoDB changes neither keys nor projection of a global index: ${names}. Add an index of another name, and remove the old one in the next release.`,
  'setting-removed': (names, stack) =>
    `${stack} has these now, and its file (lib/stages) lacks them, so they would be removed: ${names}. Write them into the file again, as they are deployed.`,
  'stack-abandoned': (names, stacks) =>
    `"cdk deploy" leaves stacks running that the app no longer has: ${stacks}. The new ones begin without their data (${names}), and AWS refuses in them each name that those hold. Keep the stacks. Or copy their data, delete them ("aws cloudformation delete-stack") and deploy anew, which is an outage.`,
  limit: (names, stack) =>
    `${stack} is beyond or near a limit of CloudFormation: ${names}. Move resources to another nested stack.`,
} satisfies Record<string, (names: string, stack: string, detail: string) => string>;

type Rule = keyof typeof SENTENCES;

const SHOWN = 6;

/** Reasons by what they accept: `deploy data-left TablesUsage`. */
export type Accepted = Readonly<Record<string, string>>;

export function toFindings(hits: readonly Hit[], direction: Direction, accepted: Accepted): Finding[] {
  const groups = Map.groupBy(hits, ({ rule, level = 'error', stack, detail = '', resource }) =>
    JSON.stringify([rule, level, stack, detail, accepted[`${direction} ${rule} ${resource}`] ?? '']),
  );
  return [...groups].map(([key, group]) => {
    const [rule, level, stack, detail, reason]: [Rule, Level, string, string, string] = JSON.parse(key);
    const names = group.map(({ resource, note }) => (note ? `${resource} (${note})` : resource));
    const rest = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
    const message = SENTENCES[rule](`${names.slice(0, SHOWN).join(', ')}${rest}`, stack, detail);
    const resources = group.map(({ resource }) => resource);
    if (reason === '') return { rule, level, direction, resources, message };
    return { rule, level: 'accepted', direction, resources, message: `${message} Accepted: ${reason}` };
  });
}
