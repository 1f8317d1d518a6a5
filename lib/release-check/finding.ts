/** Deploying the release after the earlier one, and deploying the earlier one after it. */
export type Direction = 'deploy' | 'roll back';

/** An error is refused by AWS, or leaves data of the earlier release behind. */
export type Level = 'error' | 'warning' | 'accepted';

export interface Finding {
  rule: Rule;
  level: Level;
  direction: Direction;
  /** Logical ids, names of exports, paths or limits. */
  resources: string[];
  /** Says what to do. */
  message: string;
}

/** What a rule found about a resource. Hits of a rule that differ in the resource alone make one finding. */
export interface Hit {
  rule: Rule;
  level: Level;
  /** Path of the stack. */
  stack: string;
  resource: string;
  /** Follows the resource in brackets. */
  note?: string;
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

/** Reasons by what they accept: `deploy data-left TablesUsage`. */
export type Accepted = Readonly<Record<string, string>>;

export function toFindings(hits: readonly Hit[], direction: Direction, accepted: Accepted): Finding[] {
  const read = hits.map((hit) => ({ ...hit, reason: accepted[`${direction} ${hit.rule} ${hit.resource}`] }));
  const groups = Object.groupBy(read, ({ rule, level, stack, detail, reason }) =>
    JSON.stringify([rule, level, stack, detail, reason]),
  );
  return Object.values(groups).flatMap((group = []) => {
    const [first] = group;
    if (first === undefined) return [];
    const { rule, stack, detail = '', reason } = first;
    const names = group.map(({ resource, note }) =>
      note === undefined ? resource : `${resource} (${note})`,
    );
    const message = SENTENCES[rule](listed(names), stack, detail);
    return {
      rule,
      level: reason === undefined ? first.level : 'accepted',
      direction,
      resources: group.map(({ resource }) => resource),
      message: reason === undefined ? message : `${message} Accepted: ${reason}`,
    };
  });
}

const SHOWN = 6;

function listed(names: readonly string[]): string {
  const rest = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
