/** What a message is about, without anything that customers wrote. */
export interface Subject {
  /** Of the event, where it says. */
  type?: string;
  /** Identifiers that stand in it, each once, in their order. */
  ids: string[];
}

const ID = /^(?:org|whk|chn|evt|dlv|cnv|msg|esc|tkt|src|key)_[0-9a-f]{32}/;
const TYPE = /^[a-z][a-z_]*\.[a-z_]+$/;

/** How deep and how far a message is searched: enough for all messages of the service. */
const DEPTH = 5;
const IDS = 12;

/**
 * Finds what a message's body is about. It reads nothing but identifiers and the event's type: no text of
 * customers, no address.
 */
export function subjectOf(body: string): Subject {
  const ids = new Set<string>();
  let type: string | undefined;
  const look = (value: unknown, name: string, depth: number): void => {
    if (typeof value === 'string') {
      const [id] = ID.exec(value) ?? [];
      if (id !== undefined && ids.size < IDS) ids.add(id);
      if ((name === 'type' || name === 'detail-type') && TYPE.test(value)) type ??= value;
      return;
    }
    if (typeof value !== 'object' || value === null || depth === 0) return;
    for (const [key, inner] of Object.entries(value)) look(inner, key, depth - 1);
  };
  look(jsonOf(body), '', DEPTH);
  return { ...(type === undefined ? {} : { type }), ids: [...ids] };
}

/** How a message's body is made: names of members, without their values, `no JSON` when it is none. */
export function shapeOf(body: string): string {
  const shape = (value: unknown, depth: number): string => {
    if (typeof value !== 'object' || value === null || depth === 0) return typeof value;
    if (Array.isArray(value)) return `[${value.length}]`;
    return `{ ${Object.entries(value)
      .map(([name, inner]) => (typeof inner === 'object' ? `${name}: ${shape(inner, depth - 1)}` : name))
      .join(', ')} }`;
  };
  const parsed = jsonOf(body);
  return parsed === undefined ? 'no JSON' : shape(parsed, 2);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
