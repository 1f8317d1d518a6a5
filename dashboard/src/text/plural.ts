/** The form that English and German have for a number. */
export const plural = (count: number, one: string, other: string): string => (count === 1 ? one : other);
