/** An identifier, as the API has it: a prefix and the 32 hexadecimal digits of a UUIDv7. */
const ID = /\b([a-z]{3,4})_([0-9a-f]{32})(?![0-9a-f])/;
const WHOLE = new RegExp(`^${ID.source}$`);
/** The beginning of one. */
const PARTIAL = /^(?:evt|dlv|whk|cnv|msg|key|src|tkt|esc)_[0-9a-f]*$/;

export const isId = (text: string): boolean => WHOLE.test(text);
export const isPartialId = (text: string): boolean => PARTIAL.test(text.trim());

/** The first identifier in a text, which may be a line of a log or an address. */
export const idIn = (text: string): string | undefined => ID.exec(text)?.[0];

export const prefixOf = (id: string): string => id.slice(0, id.indexOf('_'));

/** When what an identifier names was created, in milliseconds since the epoch. */
export const createdAt = (id: string): number =>
  Number.parseInt(id.slice(id.indexOf('_') + 1, id.indexOf('_') + 13), 16);
