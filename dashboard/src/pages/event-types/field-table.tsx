import { Marked } from '../../parts/marked.tsx';
import { Table } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { type CataloguedType, ENTRIES } from './catalogue.ts';
import { fieldDescriptionOf } from './descriptions.ts';
import styles from './event-types.module.css';
import { type FieldRow, fieldsOf } from './fields.ts';

/** The fields of a type's payload, those of an object below it. */
export const Fields = ({ type }: { type: CataloguedType }) => (
  <Table
    label={t.eventLog.payload}
    isStacked
    columns={[t.common.field, t.common.type, t.common.description]}
  >
    {fieldsOf(ENTRIES[type].schema).map((row) => (
      <tr key={[...row.path, row.name].join('.')}>
        <th scope="row">
          <span className={styles.name}>
            <code>
              {row.path.map((name) => (
                <span key={name} className="quiet">
                  {name}.
                </span>
              ))}
              {row.name}
            </code>
            {row.isRequired ? null : <span className={styles.optional}>{t.eventTypes.optional}</span>}
          </span>
        </th>
        <td data-label={t.common.type}>
          <Type row={row} />
        </td>
        <td data-label={t.common.description}>
          <span>
            <Marked text={fieldDescriptionOf(type, row)} />
          </span>
        </td>
      </tr>
    ))}
  </Table>
);

/** The type, and what is known of its values. */
const Type = ({ row: { type, values, prefix } }: { row: FieldRow }) => (
  <span className={styles.type}>
    {type}
    {prefix === undefined ? null : <code>{prefix}…</code>}
    {values?.map((value) => (
      <code key={value}>{value}</code>
    ))}
  </span>
);
