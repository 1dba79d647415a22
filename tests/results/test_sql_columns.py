import numpy as np
import pytest

from results import sql

pytestmark = pytest.mark.django_db


def test_numbers_come_as_arrays_and_all_else_as_it_is():
    found = sql.columns(
        """
        SELECT array_send(array_agg(n::bigint * 3000000000)) AS big, array_send(array_agg(n)) AS small,
            array_send(array_agg(n / 3::double precision)) AS share, array_send('{}'::int[]) AS none,
            array_send(array_agg(n) FILTER (WHERE n > 9)) AS missing, array_agg(n::text) AS texts
        FROM generate_series(1, %(last)s) AS n
        """,
        {"last": 3},
    )
    assert found["big"].tolist() == [3_000_000_000, 6_000_000_000, 9_000_000_000]
    assert found["small"].tolist() == [1, 2, 3]
    assert found["share"].tolist() == [1 / 3, 2 / 3, 1.0]
    assert found["share"].dtype == np.float64
    assert found["none"].tolist() == []
    assert (found["missing"], found["texts"]) == (None, ["1", "2", "3"])


@pytest.mark.parametrize("array", ["ARRAY[1, NULL]", "ARRAY[[1], [2]]", "ARRAY['1'::text]"])
def test_what_is_no_list_of_numbers_is_refused(array):
    with pytest.raises(TypeError, match="no list of numbers"):
        sql.columns(f"SELECT array_send({array}) AS one", {})
