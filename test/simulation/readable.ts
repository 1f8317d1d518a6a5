/**
 * Values as a line of a trace shows them: short names replace identifiers, and repeated details are left out.
 */
export function readable(values: readonly unknown[]): string {
  return values.map(text).join(', ');
}

function text(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString().slice(11);
  if (typeof value === 'function') return 'found';
  if (Array.isArray(value)) return `[${value.map(text).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return ofObject({ ...value });
}

function ofObject(value: Record<string, unknown>): string {
  const { id, status, attempts, nextRetryAt, lease, deliveryMessage, event, owed: _, ...others } = value;
  if (event !== undefined) return text(event);
  const named = deliveryMessage === undefined ? id : text(deliveryMessage);
  if (named === undefined) {
    const fields = Object.entries({ ...value }).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${name}: ${text(field)}`).join(', ')}}`;
  }
  const said = [
    status,
    attempts === undefined ? undefined : `${attempts} attempts`,
    nextRetryAt === undefined ? undefined : `next ${String(nextRetryAt).slice(11)}`,
    lease === undefined ? undefined : text(lease),
    ...['until', 'state', 'dueAt', 'parked', 'terminalReason'].map((name) =>
      others[name] === undefined ? undefined : `${name} ${text(others[name])}`,
    ),
  ].filter((part) => part !== undefined);
  return said.length === 0 ? String(named) : `${named} (${said.join(', ')})`;
}
