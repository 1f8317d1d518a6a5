/** Subject of a message, without customer content. */
export interface Subject {
  /** Event type, if any. */
  type?: string;
  /** Distinct ids in order. */
  ids: string[];
}

const ID = /^(?:org|whk|chn|evt|dlv|cnv|msg|esc|tkt|src|key)_[0-9a-f]{32}/;
const TYPE = /^[a-z][a-z_]*\.[a-z_]+$/;

/** Search limits, sufficient for every message of the service. */
const DEPTH = 5;
const IDS = 12;

/** Finds the subject of a message's body. Reads only ids and the event type: no customer content, no URL. */
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
  look(parseJson(body), '', DEPTH);
  return { ...(type === undefined ? {} : { type }), ids: [...ids] };
}

/** Structure of a message's body: member names without values, or `no JSON`. */
export function shapeOf(body: string): string {
  const shape = (value: unknown, depth: number): string => {
    if (typeof value !== 'object' || value === null || depth === 0) return typeof value;
    if (Array.isArray(value)) return `[${value.length}]`;
    return `{ ${Object.entries(value)
      .map(([name, inner]) => (typeof inner === 'object' ? `${name}: ${shape(inner, depth - 1)}` : name))
      .join(', ')} }`;
  };
  const parsed = parseJson(body);
  return parsed === undefined ? 'no JSON' : shape(parsed, 2);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
